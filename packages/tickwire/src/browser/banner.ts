/**
 * A banner that says what a player needs to know about the connection: connecting, lost and reconnecting, back, over.
 *
 * ```ts
 * const room = await withBanner(connect(game, location.origin))
 * ```
 *
 * It is one element at the top of the page, announced by screen readers (`role="status"`, for errors `role="alert"`),
 * without animation, above everything else. It takes no clicks except on its button, so the game below stays playable.
 */

import type { CloseReason } from '../core/connection/close-reason.ts'

/** How a banner looks, and what its button does. */
export interface BannerOptions {
  /** The element that the banner is put into. Default: the body of the page. */
  readonly parent?: HTMLElement
  /** Whether a failed connection and the end of the match are shown. Default: yes. A page with a menu says it there. */
  readonly isEndShown?: boolean
  /** What the button of an error does. Default: it reloads the page. */
  readonly onRetry?: () => void
}

/** What a banner follows: a `Room`, or a `LockstepRoom`. */
export interface BannerRoom {
  /** Resolves when the match is over, with the reason. */
  readonly closed: Promise<CloseReason>
  /** Calls `listener` when the connection is lost. */
  onAway(listener: () => void): unknown
  /** Calls `listener` when the room is connected again, in which seat. */
  onBack(listener: (seat: 'same' | 'new') => void): unknown
}

/** A connection that takes longer than this is announced. */
const SLOW_MS = 500
/** How long the banner says that the player is back. */
const BACK_MS = 2000

const STYLE = 'position:fixed;z-index:2147483647;top:12px;left:50%;transform:translateX(-50%);max-width:min(90vw,44rem);'
  + 'box-sizing:border-box;padding:10px 16px;border-radius:8px;font:16px/1.4 system-ui,sans-serif;color:#fff;'
  + 'background:#1b2230;border:2px solid #8aa4d6;box-shadow:0 2px 12px #0008;pointer-events:none;text-align:center'
const BUTTON_STYLE = 'margin-left:12px;padding:4px 14px;min-height:32px;border-radius:6px;border:2px solid #fff;'
  + 'background:#fff;color:#1b2230;font:inherit;cursor:pointer;pointer-events:auto'

/** Why a match is over, in words for players. Reasons that a player caused are not announced. */
function textOf({ code }: CloseReason): string | undefined {
  switch (code) {
    case 'left': return undefined
    case 'shutdown': return 'The server has shut down.'
    case 'host-left': return 'The player who hosted the match has left.'
    case 'ended': return 'The match is over.'
    case 'kicked': return 'You were removed from the match.'
    case 'full': return 'All seats are taken.'
    case 'schema': case 'version': return 'The game was updated. Reload the page.'
    case 'replaced': return 'You joined this match in another window.'
    case 'unreachable': case 'timed-out': case 'path-closed': case 'reset': return 'The server does not answer.'
    default: return `The match is over: ${code}.`
  }
}

/**
 * Shows a banner while `joining` is pending, when it fails, while the room is away, and when it is over. Returns the
 * promise itself.
 */
export async function withBanner<R extends BannerRoom>(joining: Promise<R>, options: BannerOptions = {}): Promise<R> {
  const banner = new Banner(options)
  const slow = setTimeout(() => banner.say('Connecting…'), SLOW_MS)
  try {
    const room = await joining
    clearTimeout(slow)
    banner.hide()
    banner.follow(room)
    return room
  } catch (error) {
    clearTimeout(slow)
    banner.fail(error instanceof Error ? error.message : String(error))
    throw error
  }
}

class Banner {
  readonly #options: BannerOptions
  readonly #element: HTMLElement
  #hiding: ReturnType<typeof setTimeout> | undefined

  constructor(options: BannerOptions) {
    this.#options = options
    this.#element = document.createElement('div')
    this.#element.className = 'tickwire-banner'
    this.#element.style.cssText = STYLE
    this.#element.hidden = true
    this.#element.style.display = 'none'
    // In the page from the start: screen readers announce changes of a region that they know.
    this.#element.setAttribute('role', 'status')
    ;(options.parent ?? document.body).append(this.#element)
  }

  follow(room: BannerRoom): void {
    room.onAway(() => this.say('Connection lost. Reconnecting…'))
    room.onBack((seat) => {
      this.say(seat === 'same' ? 'Reconnected.' : 'Reconnected, as a new player.')
      this.#hiding = setTimeout(() => this.hide(), BACK_MS)
    })
    void room.closed.then((reason) => {
      const text = textOf(reason)
      if (text === undefined) this.hide()
      else this.fail(text)
    })
  }

  say(text: string): void {
    clearTimeout(this.#hiding)
    this.#element.setAttribute('role', 'status')
    this.#show(text)
  }

  fail(text: string): void {
    if (this.#options.isEndShown === false) return this.hide()
    clearTimeout(this.#hiding)
    this.#element.setAttribute('role', 'alert')
    this.#show(text)
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = 'Try again'
    button.style.cssText = BUTTON_STYLE
    button.addEventListener('click', () => (this.#options.onRetry ?? (() => location.reload()))())
    this.#element.append(button)
  }

  hide(): void {
    this.#element.hidden = true
    this.#element.style.display = 'none'
    this.#element.textContent = ''
  }

  #show(text: string): void {
    this.#element.textContent = text
    this.#element.hidden = false
    this.#element.style.display = 'block'
  }
}
