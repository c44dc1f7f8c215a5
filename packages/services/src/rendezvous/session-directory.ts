/**
 * Sessions of several instances of a rendezvous, which share a store. A session lives in the memory of one instance,
 * its home. The store knows which one that is, by the id and by the code, as leases that the home renews.
 *
 * ```
 * a guest asks any instance ─▶ lease: the home ─▶ `join` to the home ─▶ its answer
 * a socket opens anywhere   ─▶ lease: the home ─▶ its texts pass between both instances
 * a home dies               ─▶ the host asks any instance, which becomes the home: the secret proves the host
 * ```
 *
 * Requests between instances have a deadline. One without an answer counts as a home that is away.
 */

import type { Leases, SendAnswer, Unavailable } from '../store/leases.ts'
import { leaseIdOf, newLeaseId } from '../store/lease-key.ts'
import { GUESSES_PER_HOUR, GUESSES_PER_MINUTE } from './guess-limit.ts'
import type { Session, SessionProof, Sessions } from './sessions.ts'

/** How long a home is known without a renewal. */
const HOME_MS = 30_000
const RENEW_MS = 10_000
/** Sessions that are renewed at the same time: 10,000 one after the other take longer than a round. */
const RENEWALS_MAX = 100
const ANSWER_MS = 1000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/**
 * Whether an instance became the home of a session. `taken`: another one is. `code-taken`: another session has its
 * code. `unavailable`: the next round tries again.
 */
export type Announced = 'ok' | 'taken' | 'code-taken' | 'full' | Unavailable

/** A request to the home of a session. */
export type HomeRequest =
  | { readonly kind: 'join'; readonly code: string; readonly fingerprint: string | undefined }
  | { readonly kind: 'resume'; readonly proof: SessionProof }

/** Its answer: the body of the response, or the refusal. */
export interface HomeAnswer {
  readonly status: number
  readonly body: unknown
}

/** A text about a socket that is open at another instance. */
export interface SocketText {
  readonly from: string
  readonly socket: string
  /** The first text opens it. Empty: is it known? Undefined: it was closed, or is not known. */
  readonly text: string | undefined
  readonly isFirst?: boolean
}

interface Envelope {
  readonly from: string
  readonly ask?: string
  readonly request?: HomeRequest
  readonly answer?: string
  readonly result?: HomeAnswer
  readonly socket?: SocketText
}

export class SessionDirectory {
  /** The name of this instance. */
  readonly instance: string = newLeaseId()
  /** Answers a request of another instance. */
  onRequest: (request: HomeRequest) => HomeAnswer = () => ({ status: 503, body: undefined })
  /** A text about a socket came. */
  onSocket: (text: SocketText) => void = () => {}
  /** Another instance is the home of this session now. */
  onLost: (session: Session) => void = () => {}
  readonly #leases: Leases
  readonly #sessions: Sessions
  readonly #waiting = new Map<string, (result: HomeAnswer | undefined) => void>()
  readonly #timer: NodeJS.Timeout
  readonly #stop: () => void
  #isRenewing = false

  constructor(leases: Leases, sessions: Sessions) {
    this.#leases = leases
    this.#sessions = sessions
    this.#stop = leases.onMessage(this.instance, (text) => this.#handle(text))
    this.#timer = setInterval(() => void this.#renew(), RENEW_MS)
    this.#timer.unref()
    sessions.onRemoved = (session) => void this.#forget(session)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#stop()
  }

  /** This instance is the home of a session. `away`: the instance that was, and is away. */
  async announce(session: Session, away?: string): Promise<Announced> {
    const code = idOfCode(session.code)
    // The id is first: of two instances that become the home at once, the one that has it takes the code too.
    if (away !== undefined) await this.#leases.drop('code', session.id, away)
    const said = await this.#put(session.id)
    // The code is put at once: without a home, it would be a wrong code for guests.
    if (away !== undefined && said === 'ok') void this.#leases.drop('code', code, away)
    const announced = said !== 'ok' ? said : await this.#put(code)
    // It ended in the meantime.
    if (this.#sessions.get(session.id) === undefined) await this.#forget(session)
    return said === 'ok' && announced === 'taken' ? 'code-taken' : announced
  }

  /** The other instance that is the home of a session, by its id or its code. Undefined: there is none. */
  async homeOf(
    by: { readonly session: string } | { readonly code: string },
  ): Promise<string | undefined | Unavailable> {
    const lease = await this.#leases.get('code', 'session' in by ? by.session : idOfCode(by.code))
    if (lease === undefined || lease === 'unavailable') return lease
    return lease.value === this.instance ? undefined : lease.value
  }

  /** Asks the home of a session. Undefined: it does not answer. */
  async ask(home: string, request: HomeRequest): Promise<HomeAnswer | undefined | Unavailable> {
    const ask = newLeaseId()
    return await new Promise((resolve) => {
      const settle = (result: HomeAnswer | undefined | Unavailable): void => {
        clearTimeout(late)
        this.#waiting.delete(ask)
        resolve(result)
      }
      const late = setTimeout(() => settle(undefined), ANSWER_MS)
      this.#waiting.set(ask, settle)
      void this.#send(home, { from: this.instance, ask, request }).then((sent) => {
        if (sent !== 'ok') settle(sent === 'unavailable' ? sent : undefined)
      })
    })
  }

  /** Counts a wrong code of an origin, for all instances. Returns whether it has no more. */
  async countGuess(origin: string): Promise<boolean> {
    const [minute, hour] = await Promise.all([
      this.#leases.count('origin', leaseIdOf(`guesses in a minute ${origin}`), MINUTE_MS),
      this.#leases.count('origin', leaseIdOf(`guesses in an hour ${origin}`), HOUR_MS),
    ])
    return (minute !== 'unavailable' && minute >= GUESSES_PER_MINUTE)
      || (hour !== 'unavailable' && hour >= GUESSES_PER_HOUR)
  }

  /** Sends a text about a socket to another instance. While the store is away, it is lost. */
  async sendSocket(instance: string, text: Omit<SocketText, 'from'>): Promise<SendAnswer> {
    return await this.#send(instance, { from: this.instance, socket: { ...text, from: this.instance } })
  }

  /** Whether another instance has ended. While the store is away, none has. */
  async hasEnded(instance: string): Promise<boolean> {
    return await this.#send(instance, { from: this.instance }) === 'gone'
  }

  async #send(instance: string, envelope: Envelope): Promise<SendAnswer> {
    return await this.#leases.send(instance, JSON.stringify(envelope))
  }

  #handle(text: string): void {
    // Only instances with the same store send here.
    const { from, ask, request, answer, result, socket } = JSON.parse(text) as Envelope
    if (socket !== undefined) this.onSocket(socket)
    else if (answer !== undefined) this.#waiting.get(answer)?.(result)
    else if (ask !== undefined && request !== undefined)
      void this.#send(from, { from: this.instance, answer: ask, result: this.onRequest(request) })
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing) return
    this.#isRenewing = true
    const { all } = this.#sessions
    for (let at = 0; at < all.length; at += RENEWALS_MAX)
      await Promise.all(all.slice(at, at + RENEWALS_MAX).map(async (session) => await this.#renewOne(session)))
    this.#isRenewing = false
  }

  async #renewOne(session: Session): Promise<void> {
    const isHere = (): boolean => this.#sessions.get(session.id) === session
    const announced = isHere() ? await this.announce(session) : 'ok'
    if ((announced === 'taken' || announced === 'code-taken') && isHere()) this.onLost(session)
  }

  async #put(id: string): Promise<'ok' | 'taken' | 'full' | Unavailable> {
    const put = await this.#leases.put('code', id, this.instance, this.instance, HOME_MS)
    return typeof put === 'number' ? 'ok' : put === 'invalid' ? 'full' : put
  }

  async #forget({ id, code }: Session): Promise<void> {
    for (const each of [id, idOfCode(code)]) await this.#leases.drop('code', each, this.instance)
  }
}

function idOfCode(code: string): string {
  return leaseIdOf(`join code ${code}`)
}
