/**
 * What a check is: one sentence of the standard, and the way to see whether a server keeps it.
 */

import { Line, type Target } from './line.ts'
import { REASONS } from './packets.ts'
import { Session, type Accepted } from './session.ts'
import { visit } from './visit.ts'

export interface Check {
  readonly id: string
  /** The page of docs/wire and the heading there. */
  readonly section: string
  /** What must be so. */
  readonly says: string
  /** It waits for ten seconds or more. */
  readonly isSlow?: boolean
  /** It must be let in. */
  readonly needsEntry?: boolean
  /** Undefined when it is so; otherwise what was seen instead. */
  run(lab: Lab): Promise<string | undefined>
}

/** The server would not let us in: nothing can be said about what happens inside. */
export class NotLetIn extends Error {
  override readonly name = 'NotLetIn'
}

/** Lines and connections of one check, all of which are given up at its end. */
export class Lab {
  readonly target: Target
  readonly #lines: Line[] = []
  readonly #sessions: Session[] = []

  constructor(target: Target) {
    this.target = target
  }

  async line(): Promise<Line> {
    const line = await Line.open(this.target)
    this.#lines.push(line)
    return line
  }

  /** Comes in, and is connected when the server has said something. */
  async enter(suites: readonly number[] = [1]): Promise<Session> {
    const line = await this.line()
    const session = this.open(line, await this.accepted(line, suites))
    if (!await session.isAlive()) throw new NotLetIn('let in, and then never answered')
    return session
  }

  /** Comes in as far as the acceptance. */
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

  async close(): Promise<void> {
    for (const session of this.#sessions) if (session.goodbye === undefined) await session.leave()
    for (const session of this.#sessions) session.end()
    for (const line of this.#lines) line.close()
  }
}
