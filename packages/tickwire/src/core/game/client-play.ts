/**
 * How a client plays: which tick it is in, what its player holds there, and what that makes of his own objects.
 *
 *   timing frames -> ClockSync -> TickClock -> ticks that are due -> inputs, stamped -> the wire
 *                        ^            ^                                 |
 *                      round trip    InputLead <- margins               +-> Predictor: the game's own `step`, now
 *
 * It sends nothing and draws nothing; `client-host.ts` and `client-view.ts` do.
 */

import { CATCH_UP_TICKS_MAX, INPUT_AHEAD_MAX } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { CorrectionListener } from '../predict/corrections.ts'
import { Predictor } from '../predict/predictor.ts'
import type { MistakeListener, SyncTestOptions } from '../predict/predictor-options.ts'
import type { Shape } from '../schema/field.ts'
import type { InitOf } from '../schema/value-types.ts'
import { ClockSync } from '../time/clock-sync.ts'
import { InputLead } from '../time/input-lead.ts'
import type { InputRing } from '../time/input-ring.ts'
import { InputSource } from '../time/input-source.ts'
import { PeerInputsSink } from '../time/peer-inputs.ts'
import { TickClock } from '../time/tick-clock.ts'
import type { TimingListener, TimingSink } from '../time/timing-frame.ts'
import type { World } from '../world/world.ts'
import type { ClientAuthority } from './client-authority.ts'
import type { Game } from './define-game.ts'
import { InputTable, type HeldInput } from './input-table.ts'
import { InputSampler } from './local-input.ts'
import { predictionTicks } from './settings.ts'
import { StepEvents } from './step-events.ts'

export class ClientPlay<I extends Shape> implements TimingListener, HeldInput {
  readonly clock: ClockSync
  readonly ticks: TickClock
  readonly lead: InputLead
  readonly inputs: InputSource
  readonly table: InputTable<I>
  /** Undefined until we know who we are, and when nothing is predicted. */
  predictor: Predictor | undefined = undefined
  /** Inputs of ours that came too late, as the authority says. */
  lateInputs = 0
  /** Asked once a tick for what the player holds. */
  sampleInput: () => InitOf<I> = () => ({})
  /** The round trip of now, as the connection measures it. */
  rttMs: () => number = () => 0
  /** Tools that look on: told of what was predicted wrong, and of every tick that was predicted for the first time. */
  onMistake: MistakeListener | undefined = undefined
  onStepped: ((world: World) => void) | undefined = undefined
  /** What happens in `step`, each thing heard once. */
  readonly events: StepEvents
  readonly #testing: SyncTestOptions
  readonly #shared: Pick<ClientAuthority, 'handleStepped'> | undefined
  readonly #game: Game<I>
  /** What everybody else holds, when everybody is predicted. */
  readonly others: PeerInputsSink
  readonly #sampler: InputSampler<I>
  #peer: PeerId = 0
  #resyncs = 0
  /** As `HeldInput`: the input of the tick that is being stepped. */
  readonly current: Int32Array
  readonly isHeld = false
  viewTick = -1

  constructor(game: Game<I>, testing: SyncTestOptions = {}, shared?: Pick<ClientAuthority, 'handleStepped'>) {
    this.#shared = shared
    this.#testing = testing
    this.events = new StepEvents(game.messages, () => this.predictor?.world)
    const { tickRate, net } = game
    this.#game = game
    this.clock = new ClockSync(tickRate, net.resyncMs)
    this.ticks = new TickClock(this.clock, net.nudge, net.resyncMs)
    this.lead = new InputLead(this.clock, net.leadTicks, net.nudge)
    this.table = new InputTable(game.input)
    this.inputs = new InputSource(game.inputSchema, net.inputRedundancy, this.table.heap)
    this.table.keepValuesOf(this.inputs)
    this.others = new PeerInputsSink(game.inputSchema, this.table.heap)
    this.table.keepValuesOf(this.others)
    this.#sampler = new InputSampler(game.inputSchema, this.table.heap)
    this.current = game.inputSchema.initialRow.slice()
  }

  /** We are in: from now on there are objects of ours. */
  begin(peer: PeerId, seed: number, sharing: World, corrections: CorrectionListener): void {
    const { tickRate, predict, net, entities } = this.#game
    this.#peer = peer
    this.table.add(peer)
    if (predict === 'none') return
    this.predictor = new Predictor(entities, {
      peer, isEverybodys: predict === 'all', tickRate, windowTicks: predictionTicks(tickRate, net.predictionMs), seed, external: this.#game.external?.(), sharing, corrections,
      step: (world) => this.#step(world),
      onStepped: (world) => this.#handleStepped(world),
      onMistake: (...mistake) => this.onMistake?.(...mistake),
      test: (isOn) => { this.events.isMuted = isOn }, ...this.#testing,
    })
    this.predictor.world.listener = this.events
  }

  handleTiming(now: Millis, timing: TimingSink): void {
    this.clock.sample(timing.tick + timing.phase, now, this.rttMs())
    if (timing.hasMargins) this.lead.handleMargin(now, timing.marginTicksMin)
    this.lateInputs += timing.lateInputs
    this.inputs.prune(timing.tick)
    this.predictor?.handleTick(timing.tick, timing.hasDigest ? timing.digest : NaN)
  }

  /** Samples inputs for the ticks that are due and predicts up to them. Returns how many inputs there were. */
  tick(now: Millis, viewTick: number): number {
    const { ticks, inputs, predictor } = this
    ticks.advance(now, this.lead.ms)
    if (!ticks.isRunning) return 0
    const target = Math.floor(ticks.ticks)
    if (ticks.resyncs !== this.#resyncs) {
      this.#resyncs = ticks.resyncs
      predictor?.reset()
      // What was said of a tick stands: whoever is set back waits until the ticks that he has spoken for are over.
      if (target > inputs.newest || inputs.newest - target > INPUT_AHEAD_MAX) inputs.restart(target)
    }
    const first = inputs.newest < 0 ? target : Math.max(inputs.newest + 1, target - CATCH_UP_TICKS_MAX + 1)
    for (let tick = first; tick <= target; tick++) this.#sample(tick, viewTick)
    predictor?.advance(target, this.#game.net.replayTicksMax)
    this.table.collectValues()
    return Math.max(target - first + 1, 0)
  }

  /** When the next tick is due. */
  nextAt(): Millis {
    return this.ticks.isRunning ? this.ticks.timeOf(Math.floor(this.ticks.ticks) + 1) : Infinity
  }

  #sample(tick: Tick, viewTick: number): void {
    const { ring } = this.inputs
    this.#sampler.sample(this.sampleInput(), ring.rows, ring.at(tick))
    this.inputs.push(tick, viewTick < 0 ? tick : viewTick)
  }

  #handleStepped(world: World): void {
    this.#shared?.handleStepped(world)
    this.onStepped?.(world)
  }

  /** Runs the game's `step` for the tick that a world is in, with what the player held then. */
  #step(world: World): void {
    this.#load(this.#peer, this.inputs.ring, world.tick)
    for (const [peer, ring] of this.others.rings) this.#load(peer, ring, world.tick)
    this.events.begin()
    this.#game.step(world, this.table)
  }

  /** Lets a player hold what he held in a tick; what is not known of it he held over from before, as on the authority. */
  #load(peer: PeerId, ring: InputRing, tick: Tick): void {
    const latest = ring.latest(tick)
    const rows = latest < 0 ? this.#game.inputSchema.initialRow : ring.rows
    const at = latest < 0 ? 0 : ring.at(latest)
    for (let lane = 0; lane < this.current.length; lane++) this.current[lane] = rows[at + lane]
    this.viewTick = tick
    if (peer !== this.#peer) this.table.add(peer)
    this.table.load(peer, this)
  }
}
