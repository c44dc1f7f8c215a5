/**
 * The line of a room, and the way to the next one. When the line falls silent, it reports that the room is away. When
 * the line stays silent or is lost, it opens another one to the same seat with the ticket (`comeback.ts`), or to a new
 * seat if the old one is gone.
 *
 * ```
 *         1.2 s of silence         5 s of silence, or closed
 * playing ───────────────▶ away ─────────────────────────────▶ away, looking for a line
 *    ▲                       │ a packet arrives                   │ a line is open, or a packet arrives
 *    └───────────────────────┴────────────────────────────────────┘
 * ```
 *
 * A line that is open has the seat: the server gave it away from the old line. So it is used even if packets arrive on
 * the old line again meanwhile.
 */

import type { CloseReason } from '../connection/close-reason.ts'
import type { Shape } from '../schema/field.ts'
import { comeBack, Search } from './comeback.ts'
import { ConnectError } from './connect-error.ts'
import type { Line } from './line.ts'
import type { ClientPlatform } from './platform.ts'

/** How a room gets another line. */
export interface Return<I extends Shape> {
  /** Opens a line to the seat of a ticket. */
  resume(ticket: Uint8Array): Promise<Line<I>>
  /** Opens a line to a new seat. `room` is the id of the room that the seat was in. */
  rejoin(room: string): Promise<Line<I>>
}

/**
 * From the silence that `onAway` reports to the search for another line: 5 s in all. Meanwhile the ladder of a page
 * looks for another path of the same connection, which takes it 3 s.
 */
const SEEK_MS = 3800
const SILENT: CloseReason = { by: 'network', code: 'timed-out' }

/** What happens to the line of a room. */
export interface LineEvents<I extends Shape> {
  /** The room continues on this line. */
  onLine(line: Line<I>): void
  onAway(reason: CloseReason): void
  onBack(seat: 'same' | 'new'): void
  /** The room is over. Called once. */
  onEnd(reason: CloseReason): void
  /** An attempt threw an error that is not a ConnectError. */
  onFault(error: unknown): void
}

export class LineKeeper<I extends Shape> {
  line: Line<I>
  isAway = false
  isOver = false
  readonly #return: Return<I> | undefined
  readonly #platform: ClientPlatform
  readonly #events: LineEvents<I>
  #seeking: Search | undefined = undefined
  #cancelSeek: () => void = () => {}

  /** `line` is open. Without `back`, the room ends when its line is lost. */
  constructor(line: Line<I>, back: Return<I> | undefined, platform: ClientPlatform, events: LineEvents<I>) {
    this.line = line
    this.#return = back
    this.#platform = platform
    this.#events = events
  }

  /** Begins to watch the line. */
  start(): void {
    this.#attach(this.line)
  }

  /** Leaves the match. */
  leave(): void {
    this.line.leave()
    if (!this.isAway || this.isOver) return
    // A silent line may still carry the Disconnect. It ends when all copies are sent.
    this.#stop()
    this.#events.onEnd({ by: 'local', code: 'left' })
  }

  /** The program ends: nothing more is sent, and nothing reported. */
  abandon(): void {
    this.#stop()
    this.line.end()
  }

  #stop(): void {
    this.isOver = true
    this.#cancelSeek()
    this.#seeking?.end()
  }

  #attach(line: Line<I>): void {
    this.line = line
    line.onSilent = (isSilent) => this.#handleSilent(line, isSilent)
    void line.closed.then((reason) => this.#handleClosed(line, reason))
    this.#events.onLine(line)
  }

  #handleSilent(line: Line<I>, isSilent: boolean): void {
    if (line !== this.line || this.isOver) return
    if (isSilent) {
      this.#goAway(SILENT)
      this.#cancelSeek = this.#platform.later(SEEK_MS, () => void this.#seek(SILENT))
    } else {
      this.#seeking?.end()
      this.#comeHome('same')
    }
  }

  /** Looks for another line after an unintended close; ends the room otherwise. */
  #handleClosed(line: Line<I>, reason: CloseReason): void {
    if (line !== this.line || this.isOver) return
    // The server gave the seat to the line that this room is opening.
    const isOurs = reason.code === 'replaced' && this.#seeking !== undefined
    const mayReturn = this.#return !== undefined && line.host.seat !== undefined
    // The room goes on in another process, and the seat with it.
    const isMoved = reason.code === 'moved'
    if (!mayReturn || (reason.by !== 'network' && !isOurs && !isMoved)) return this.#end(reason)
    this.#goAway(reason)
    void this.#seek(reason)
  }

  #goAway(reason: CloseReason): void {
    if (this.isAway) return
    this.isAway = true
    this.#events.onAway(reason)
  }

  #comeHome(seat: 'same' | 'new'): void {
    this.#cancelSeek()
    if (!this.isAway) return
    this.isAway = false
    this.#events.onBack(seat)
  }

  /** Opens another line, beside the old one if that is only silent. */
  async #seek(lost: CloseReason): Promise<void> {
    this.#cancelSeek()
    const back = this.#return
    if (back === undefined || (this.#seeking !== undefined && !this.#seeking.isOver) || this.isOver) return
    const seeking = new Search()
    this.#seeking = seeking
    try {
      const found = await comeBack(() => this.#open(back), this.#platform, seeking)
      this.#adopt(found.line, found.seat)
    } catch (error) {
      const reason = error instanceof ConnectError ? error.reason : undefined
      if (reason === undefined) this.#events.onFault(error)
      // If the server was not reached, the original reason stays; if it answered, its reason is used.
      if (!seeking.isOver) this.#end(reason === undefined || reason.by === 'network' ? lost : reason)
    } finally {
      if (this.#seeking === seeking) this.#seeking = undefined
    }
  }

  async #open(back: Return<I>): Promise<{ readonly line: Line<I>; readonly seat: 'same' | 'new' }> {
    const ticket = this.line.host.seat?.ticket
    if (ticket !== undefined) {
      try {
        return { line: await back.resume(ticket), seat: 'same' }
      } catch (error) {
        if (!(error instanceof ConnectError) || error.code !== 'ticket') throw error
      }
    }
    return { line: await back.rejoin(this.line.host.seat?.room ?? ''), seat: 'new' }
  }

  /** Continues on a line that is open. The server has given it the seat, even if the old one works again. */
  #adopt(line: Line<I>, seat: 'same' | 'new'): void {
    if (this.isOver) {
      line.leave()
      return
    }
    const before = this.line
    this.#attach(line)
    before.end()
    this.#comeHome(seat)
  }

  #end(reason: CloseReason): void {
    if (this.isOver) return
    this.abandon()
    this.#events.onEnd(reason)
  }
}
