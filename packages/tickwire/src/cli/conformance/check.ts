/**
 * A check: one sentence of the standard, and the test whether a server follows it.
 */

import { Line, type Target } from './line.ts'
import { REASONS } from './packets.ts'
import { RelayPeer } from './relay-peer.ts'
import { Session, type Accepted } from './session.ts'
import { visit } from './visit.ts'

export interface Check {
  readonly id: string
  /** The page in docs/wire and the heading on it. */
  readonly section: string
  /** The requirement. */
  readonly says: string
  /** Whether it waits for ten seconds or more. */
  readonly isSlow?: boolean
  /** Whether the server must accept the client for it. */
  readonly needsEntry?: boolean
  /** Undefined when the requirement is met; otherwise what was observed instead. */
  run(lab: Lab): Promise<string | undefined>
}

/** The server refused the client: requirements on connections cannot be checked. */
export class NotLetIn extends Error {
  override readonly name = 'NotLetIn'
}

/** Lines and connections of one check. All of them are closed at its end. */
export class Lab {
  readonly target: Target
  readonly #lines: Line[] = []
  readonly #sessions: Session[] = []
  readonly #peers: RelayPeer[] = []

  constructor(target: Target) {
    this.target = target
  }

  async line(): Promise<Line> {
    const line = await Line.open(this.target)
    this.#lines.push(line)
    return line
  }

  /** Connects, and waits until the server answers on the connection. */
  async enter(suites: readonly number[] = [1]): Promise<Session> {
    const line = await this.line()
    const session = this.open(line, await this.accepted(line, suites))
    if (!await session.isAlive()) throw new NotLetIn('let in, and then never answered')
    return session
  }

  /** Runs the handshake up to the acceptance. */
  async accepted(line: Line, suites: readonly number[] = [1]): Promise<Accepted> {
    const verdict = (await visit(line, suites))?.verdict
    if (verdict === undefined) throw new NotLetIn('no answer that opens')
    if (verdict.is === 'refused') throw new NotLetIn(`refused: ${REASONS[verdict.reason] ?? verdict.reason}`)
    return verdict
  }

  open(line: Line, accepted: Accepted): Session {
    const session = new Session(line, accepted)
    this.#sessions.push(session)
    return session
  }

  /** An allocation at a packet relay, in a session of its own unless one is given. */
  async allocate(session?: Uint8Array): Promise<RelayPeer> {
    const peer = await RelayPeer.open(await this.line(), session)
    if (typeof peer === 'string') throw new NotLetIn(`no allocation: ${peer}`)
    this.#peers.push(peer)
    return peer
  }

  async close(): Promise<void> {
    for (const peer of this.#peers) peer.free()
    for (const session of this.#sessions) if (session.goodbye === undefined) await session.leave()
    for (const session of this.#sessions) session.end()
    for (const line of this.#lines) line.close()
  }
}
