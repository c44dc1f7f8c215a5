/**
 * Sockets of this instance whose session lives at another one: their texts pass between both.
 *
 * Each text may be lost, the last one too. So both instances ask for each socket now and then, by an empty text, and an
 * instance that does not know the socket answers that it is closed.
 */

import { newLeaseId } from '../store/lease-key.ts'
import { RemoteSocket, sendOrEnd, type SignalSocket } from './remote-socket.ts'
import type { SessionDirectory, SocketText } from './session-directory.ts'

/** Texts of one socket that may wait for the store. */
const WAITING_MAX = 64
const PING_MS = 15_000
/** How often homes are checked: a code works again when its host has noticed that its home is dead. */
const HOMES_MS = 1500

/** A socket that is open here. */
interface Here {
  readonly socket: SignalSocket
  isAlive: boolean
  /** '' until it is known. */
  home: string
  /** Passes a text to the home. Undefined: it was closed. */
  readonly pass: (text: string | undefined, isFirst?: boolean) => void
}

export class SocketBridge {
  readonly #directory: SessionDirectory
  readonly #greet: (socket: SignalSocket) => void
  /** Sockets that are open here, by name. */
  readonly #here = new Map<string, Here>()
  /** Sockets that are open at other instances, by name. */
  readonly #there = new Map<string, RemoteSocket>()
  readonly #timers: readonly NodeJS.Timeout[]

  /** `greet`: a socket of another instance opened. */
  constructor(directory: SessionDirectory, greet: (socket: SignalSocket) => void) {
    this.#directory = directory
    this.#greet = greet
    directory.onSocket = (text) => this.#handle(text)
    this.#timers = [
      setInterval(() => this.#ping(), PING_MS).unref(), setInterval(() => void this.#checkHomes(), HOMES_MS).unref(),
    ]
  }

  /** Passes the texts of a socket to the home of its session. `first`: its first text. */
  open(socket: SignalSocket, session: string, first: string): void {
    const name = newLeaseId()
    const home = this.#directory.homeOf({ session }).then((at) => (at === 'unavailable' ? undefined : at))
    let waiting = 0
    // Texts are passed on one after the other: a member may send more before its welcome.
    let order: Promise<unknown> = home
    const pass: Here['pass'] = (text, isFirst = false) => {
      if (++waiting > WAITING_MAX && text !== undefined) return socket.terminate()
      order = order.then(async () => {
        const at = await home
        const sent = at === undefined
          ? 'gone' : await this.#directory.sendSocket(at, { socket: name, text, ...(isFirst && { isFirst }) })
        waiting--
        // There is no home, or it is gone: the member looks for it again.
        if (sent === 'gone' || (isFirst && sent !== 'ok')) socket.close(4003, 'refused')
      })
    }
    const known: Here = { socket, isAlive: true, home: '', pass }
    void home.then((at) => { known.home = at ?? '' })
    this.#here.set(name, known)
    socket.on('pong', () => { known.isAlive = true })
    socket.on('message', (data, isBinary) => {
      known.isAlive = true
      if (isBinary) socket.terminate()
      else pass(String(data))
    })
    socket.on('close', () => {
      if (this.#here.delete(name)) pass(undefined)
    })
    pass(first, true)
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
    for (const { socket } of this.#here.values()) socket.terminate()
    for (const socket of [...this.#there.values()]) socket.terminate()
  }

  /** A socket without traffic does not show that its peer is gone, or that its home does not know it. */
  #ping(): void {
    for (const known of this.#here.values()) {
      if (!known.isAlive) known.socket.terminate()
      known.isAlive = false
      known.socket.ping()
      known.pass('')
    }
  }

  /** Closes the sockets whose home has died: their members find the next one. */
  async #checkHomes(): Promise<void> {
    for (const home of new Set([...this.#here.values()].map((known) => known.home))) {
      if (home === '' || !await this.#directory.hasEnded(home)) continue
      for (const known of this.#here.values()) if (known.home === home) known.socket.terminate()
    }
  }

  #handle({ from, socket: name, text, isFirst = false }: SocketText): void {
    const here = this.#here.get(name)
    if (here !== undefined) {
      if (text === undefined) {
        this.#here.delete(name)
        here.socket.close(4003, 'refused')
      } else if (text !== '') sendOrEnd(here.socket, text)
      return
    }
    if (isFirst && !this.#there.has(name)) {
      const opened = new RemoteSocket(this.#directory, from, name)
      this.#there.set(name, opened)
      opened.on('close', () => this.#there.delete(name))
      this.#greet(opened)
    }
    const there = this.#there.get(name)
    if (text === undefined) there?.end()
    else if (there === undefined) void this.#directory.sendSocket(from, { socket: name, text: undefined })
    else if (text !== '') there.emit('message', text, false)
  }
}
