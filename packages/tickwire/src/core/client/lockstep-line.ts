/**
 * The connection of a lockstep room to a relay. A lost connection is opened again with the ticket of the seat; when the
 * seat is gone, with a new one.
 */

import { HANDOVER_MS_MAX, HANDOVER_SILENT_MS } from '../base/limits.ts'
import type { Millis, Tick } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import { nobleCurves } from '../crypto/noble-curves.ts'
import { LockstepClient, type LockstepStatus } from '../game/lockstep-client.ts'
import type { LockstepLanes } from '../game/lockstep-lanes.ts'
import type { LockstepGame } from '../lockstep/define-lockstep.ts'
import type { LockstepRunner } from '../lockstep/lockstep-runner.ts'
import type { AnyOrder } from '../lockstep/order.ts'
import type { SealSigner } from '../order/tick-sealer.ts'
import type { DesyncReport } from '../order/desync-report.ts'
import type { ConnectPass } from '../endpoint/endpoint.ts'
import type { NextRelay } from '../order/handover-messages.ts'
import type { JoinRequest } from '../rooms/join-body.ts'
import type { ClientLink, PathName, TransportName } from './client-link.ts'
import { CatchUpPace } from './catch-up-pace.ts'
import { comeBack, retryFor, Search } from './comeback.ts'
import { ConnectError } from './connect-error.ts'
import type { PortSource } from './hosted-relay.ts'
import { passOf, seatName } from './join-room.ts'
import type { LockstepDrive, LockstepMachine, LockstepOptions } from './lockstep-room.ts'
import type { ClientPlatform, SeatStore, ServerSite } from './platform.ts'

const RETRY_MS_LOCAL = 10_000
const MICROS = 1000
/** How long the own relay is tried before others are asked to go on, and each of these, in ms. */
const OWN_MS = 700
const CONNECT_MS = 1000
const MOVED: CloseReason = { by: 'protocol', code: 'moved' }

/** A lockstep client on real transports. */
export class LockstepLine<O extends readonly AnyOrder[]> implements LockstepDrive<O> {
  isAway = false
  onWork: () => void = () => {}
  onAway: () => void = () => {}
  onBack: (seat: 'same' | 'new') => void = () => {}
  onContinued: (tick: Tick) => void = () => {}
  onEnd: (reason: CloseReason) => void = () => {}
  readonly #client: LockstepClient<O>
  #site: ServerSite
  readonly #options: LockstepOptions
  readonly #machine: LockstepMachine
  readonly #search = new Search()
  readonly #pace = new CatchUpPace()
  /** Keeps the ticket for a page that is loaded again. Undefined: nothing does. */
  readonly #seats: SeatStore | undefined
  readonly #seatName: string
  #settleSeat: (isLost: boolean) => void = () => {}
  #link: ClientLink | undefined
  /** The own relay has ended, and its matches go on at the next one. */
  #hasMoved = false
  #runner: LockstepRunner<O> | undefined
  /** Settles the attempt to connect. Undefined while there is none. */
  #settle: ((reason: CloseReason | undefined) => void) | undefined

  private constructor(
    game: LockstepGame<O>, site: ServerSite, options: LockstepOptions, machine: LockstepMachine, isKept: boolean,
  ) {
    this.#site = site
    this.#seats = isKept && options.keepSeat !== false ? machine.platform.seats : undefined
    this.#seatName = seatName(site.place, options.join)
    this.#options = options
    this.#machine = machine
    this.#client = new LockstepClient(game, {
      entropy: machine.platform.entropy,
      createEndpoint: (config) => site.parts.createEndpoint(config),
      ...(options.runner && { runner: options.runner }),
      ...(machine.engine !== undefined && { machine: machine.engine }),
      signer: makeSigner(machine),
      ...(machine.sourceLine && { sourceLine: machine.sourceLine }),
      ...(options.onDesync && {
        onReport: (json: string) => { options.onDesync?.(JSON.parse(json) as DesyncReport) },
      }),
      onOpened: () => this.#settle?.(undefined),
      onContinued: (tick) => this.onContinued(tick),
      onClosed: (reason) => this.#handleClosed(reason),
    })
  }

  /** Joins the match at a URL or MessagePort. Rejects with a ConnectError that says why. */
  static async open<O extends readonly AnyOrder[]>(
    game: LockstepGame<O>, where: string | PortSource, options: LockstepOptions, machine: LockstepMachine,
  ): Promise<LockstepLine<O>> {
    const site = machine.site(where)
    // The other end of a MessagePort ends with the page.
    const line = new LockstepLine(game, site, options, machine, typeof where === 'string')
    const { retryMs = site.isLocal ? RETRY_MS_LOCAL : 0 } = options
    const kept = line.#seats?.take(line.#seatName)
    const opening = retryFor(retryMs, () => line.#open(kept), machine.platform)
    site.spans?.watch(opening)
    await opening
    return line
  }

  get runner(): LockstepRunner<O> {
    const { runner } = this.#client
    if (runner !== undefined) this.#runner = runner
    // Until a new seat is open, the last world is still drawn.
    if (this.#runner === undefined) throw new ConnectError(this.#site.place, { by: 'network', code: 'unreachable' })
    return this.#runner
  }

  get status(): LockstepStatus {
    return this.#client.status
  }

  get transport(): TransportName | 'none' {
    return this.#link?.transport ?? 'none'
  }

  get path(): PathName {
    return this.#link === undefined ? 'none' : this.#link.path ?? 'direct'
  }

  get pathReason(): string | undefined {
    return this.#link?.pathReason
  }

  get lanes(): LockstepLanes {
    return this.#client.lanes
  }

  drive(now: Millis): Millis {
    const link = this.#link
    if (link === undefined) return Infinity
    const pace = this.#pace
    const ticks = now < pace.restUntil ? 0 : this.#client.tick(now)
    if (this.#isLost()) this.#client.handlePathClosed(link.address)
    const after = this.#machine.platform.now()
    if (ticks > 0) this.#noteTicks(ticks, after - now)
    pace.note(ticks, now, after, this.#client.status === 'catching-up')
    const nextAt = this.#client.drain(now, { send: (to, bytes, length) => this.#send(link, to, bytes, length) })
    return nextAt <= now ? Math.max(nextAt, pace.restUntil) : nextAt
  }

  #noteTicks(ticks: number, tookMs: Millis): void {
    this.#client.feed.stepUs = tookMs * MICROS / ticks
    // The client plays when it has stepped a tick and is not behind.
    if (this.#client.status === 'active') this.#site.spans?.end({ transport: this.transport, path: this.path })
  }

  abandon(): boolean {
    if (this.#seats === undefined || this.#client.seat === undefined) return false
    this.#search.end()
    if (this.#link !== undefined) this.#dropLink(this.#link)
    return true
  }

  /** Whether the relay is silent, and the match may go on elsewhere. */
  #isLost(): boolean {
    const client = this.#client
    return this.#settle === undefined && client.nextRelays.length > 0 && client.silentMs > HANDOVER_SILENT_MS
      && client.feed.status() !== 'ended'
  }

  leave(now: Millis): void {
    this.#search.end()
    this.#settleSeat(false)
    this.#settleSeat = () => {}
    this.#client.close(now)
    if (this.isAway) this.#end({ by: 'local', code: 'left' })
  }

  /** Asks the own relay for a seat. Resolves when it has accepted the client. `ms`: how long it is tried. */
  async #connect(join: JoinRequest | undefined, ms: Millis = Infinity): Promise<void> {
    await this.#attempt(this.#site, ms, this.#options, (now, { address }, pass) => {
      this.#client.connect(now, address, this.#site.spans?.ask(join) ?? join, pass)
    })
  }

  /** Asks another relay to go on with the match. Resolves when it does. */
  async #claim({ url, key }: NextRelay): Promise<void> {
    const site = this.#machine.site(url)
    await this.#attempt(site, CONNECT_MS, { ...this.#options, server: key }, (now, { address }, pass) => {
      this.#client.claim(now, address, key, pass)
    })
    this.#site = site
  }

  /** Opens a transport, and connects with `begin`. */
  async #attempt(
    site: ServerSite, ms: Millis, asked: Pick<LockstepOptions, 'token' | 'server'>,
    begin: (now: Millis, link: ClientLink, pass: ConnectPass) => void,
  ): Promise<void> {
    const { platform } = this.#machine
    const { spans } = site
    spans?.begin('open')
    const link = await within(ms, site.open(''), platform).catch(async (error: Error) => {
      const found = ms === Infinity ? await site.diagnose() : { kind: 'down' } as const
      const detail = found.kind === 'server' ? { detail: error.message } : {}
      throw new ConnectError(site.place, { by: 'network', code: 'unreachable' }, { ...detail, found })
    })
    try {
      const pass = await passOf(asked, site, link)
      this.#link = link
      link.onDatagram = (_from, bytes, length) => {
        const { wire } = this.#options
        if (wire === undefined) this.#receive(link, bytes, length)
        else wire.receive(bytes, length, (late, count) => this.#receive(link, late, count))
      }
      link.onPathClosed = (address) => {
        this.#client.handlePathClosed(address)
        this.#work()
      }
      const reason = await new Promise<CloseReason | undefined>((resolve) => {
        this.#settle = resolve
        begin(platform.now(), link, pass)
        if (ms !== Infinity) this.#giveUpAfter(ms, link)
        this.#pump()
      })
      this.#settle = undefined
      if (reason !== undefined) throw new ConnectError(site.place, reason, { ageMs: platform.ageMs() })
      link.settle()
      spans?.begin('first-state')
      this.#keepSeat()
    } catch (error) {
      this.#settle = undefined
      this.#dropLink(link)
      throw error
    }
  }

  /** The attempt fails after this time, unless the relay has answered and gathers the other players. */
  #giveUpAfter(ms: Millis, link: ClientLink): void {
    this.#machine.platform.later(ms, () => {
      if (this.#link !== link || this.#settle === undefined) return
      if (this.#client.isGathering && ms < HANDOVER_MS_MAX) return this.#giveUpAfter(HANDOVER_MS_MAX, link)
      this.#client.handlePathClosed(link.address)
      this.drive(this.#machine.platform.now())
    })
  }

  /** The ticket is for the program that follows this one. The previous ticket is used up. */
  #keepSeat(): void {
    const { seat } = this.#client
    if (this.#seats === undefined || seat === undefined) return
    this.#settleSeat(false)
    this.#seats.take(this.#seatName)
    this.#settleSeat = this.#seats.keep(this.#seatName, seat.ticket)
  }

  #send(link: ClientLink, to: string, bytes: Uint8Array, length: number): void {
    const { wire } = this.#options
    if (wire === undefined) return link.send(to, bytes, length)
    wire.send(bytes, length, (late, count) => {
      if (this.#link === link) link.send(to, late, count)
    })
  }

  #receive(link: ClientLink, bytes: Uint8Array, length: number): void {
    if (this.#link !== link) return
    this.#client.handleDatagram(this.#machine.platform.now(), link.address, bytes, length)
    this.#work()
  }

  /** Drives the handshake. There is no room yet, or it is away and has no timer. */
  #pump(): void {
    if (this.#settle === undefined) return
    const { platform } = this.#machine
    const nextAt = this.drive(platform.now())
    if (this.#settle !== undefined && nextAt !== Infinity)
      platform.later(Math.max(1, nextAt - platform.now()), () => this.#pump())
  }

  #work(): void {
    if (this.#settle === undefined) this.onWork()
    else this.drive(this.#machine.platform.now())
  }

  #handleClosed(reason: CloseReason): void {
    if (this.#settle !== undefined) return this.#settle(reason)
    const mayReturn = this.#options.keepSeat !== false && this.#client.seat !== undefined
    this.#hasMoved = reason.code === 'moved' && this.#client.nextRelays.length > 0
    const isLost = reason.by === 'network' || this.#hasMoved
    if (!isLost || !mayReturn || this.#search.isOver) return this.#end(reason)
    if (this.#link !== undefined) this.#dropLink(this.#link)
    this.isAway = true
    this.onAway()
    void this.#return(reason)
  }

  async #return(lost: CloseReason): Promise<void> {
    try {
      const seat = await comeBack(() => this.#reopen(), this.#machine.platform, this.#search)
      this.isAway = false
      if (this.#search.isOver) this.#client.close(this.#machine.platform.now())
      this.onBack(seat)
      this.onWork()
    } catch (error) {
      const reason = error instanceof ConnectError ? error.reason : lost
      if (!this.#search.isOver) this.#end(reason.by === 'network' ? lost : reason)
    }
  }

  /** The own relay first, which may be there again or has ended; then the next ones, if the match may go on there. */
  async #reopen(): Promise<'same' | 'new'> {
    const { nextRelays, seat } = this.#client
    const { role } = this.#options.join ?? {}
    if (nextRelays.length === 0 || seat === undefined) return await this.#open(seat?.ticket)
    const own = this.#hasMoved ? new ConnectError(this.#site.place, MOVED)
      : await failureOf(this.#connect({ resume: seat.ticket, ...(role && { role }) }, OWN_MS))
    if (own === undefined) return 'same'
    for (const next of nextRelays) if (await failureOf(this.#claim(next)) === undefined) return 'same'
    if (own.code !== 'ticket') throw own
    await this.#connect(this.#options.join)
    return 'new'
  }

  /** Connects to the seat of a ticket, if there is one and the seat is still kept; otherwise to a new seat. */
  async #open(ticket: Uint8Array | undefined): Promise<'same' | 'new'> {
    const { join: asked } = this.#options
    if (ticket !== undefined) {
      try {
        await this.#connect({ resume: ticket, ...(asked?.role && { role: asked.role }) })
        return 'same'
      } catch (error) {
        if (!(error instanceof ConnectError) || error.code !== 'ticket') throw error
      }
    }
    await this.#connect(asked)
    return 'new'
  }

  #dropLink(link: ClientLink): void {
    if (this.#link === link) this.#link = undefined
    link.close()
  }

  #end(reason: CloseReason): void {
    this.#search.end()
    this.#site.spans?.end({ failed: reason.code })
    this.#settleSeat(reason.by === 'network')
    this.#settleSeat = () => {}
    if (this.#link !== undefined) this.#dropLink(this.#link)
    this.onEnd(reason)
  }
}

/** The error of an attempt to connect. Undefined: it has succeeded. */
async function failureOf(attempt: Promise<void>): Promise<ConnectError | undefined> {
  try {
    await attempt
    return undefined
  } catch (error) {
    if (error instanceof ConnectError) return error
    throw error
  }
}

/** A link that opens in time. One that opens later is closed. */
async function within(ms: Millis, link: Promise<ClientLink>, { later }: ClientPlatform): Promise<ClientLink> {
  if (ms === Infinity) return await link
  return await new Promise((resolve, reject) => {
    let isLate = false
    const cancel = later(ms, () => {
      isLate = true
      reject(new Error('no answer'))
    })
    link.then((opened) => {
      if (isLate) return opened.close()
      cancel()
      resolve(opened)
    }, (error: unknown) => {
      cancel()
      reject(error instanceof Error ? error : new Error(String(error)))
    })
  })
}

/** A key for the seals of one seat. The provider of a page cannot sign, so every place signs in plain JavaScript. */
function makeSigner({ platform: { entropy } }: LockstepMachine): SealSigner {
  const seed = new Uint8Array(32)
  entropy.fill(seed)
  return nobleCurves.importSigning(seed)
}
