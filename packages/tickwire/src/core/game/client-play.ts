/**
 * The client's simulation: its current tick, the player's input in it, and the prediction of the player's objects.
 *
 *   timing frames -> ClockSync -> TickClock -> ticks that are due -> inputs, stamped -> the wire
 *                        ^            ^                                 |
 *                      round trip    InputLead <- margins               +-> Predictor: the game's own `step`, now
 *
 * It sends nothing and draws nothing; `client-host.ts` and `client-view.ts` do.
 */

import { CATCH_UP_TICKS_MAX, INPUT_AHEAD_MAX } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { UserCode } from '../base/user-code.ts'
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
import type { ClientHostOptions } from './client-host-options.ts'
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
  /** Undefined until the peer id is known, and when nothing is predicted. */
  predictor: Predictor | undefined = undefined
  /** This client's inputs that arrived too late, as reported by the authority. */
  lateInputs = 0
  /** Called once per tick for the player's input. */
  sampleInput: () => InitOf<I> = () => ({})
  /** The current round-trip time, as measured by the connection. */
  rttMs: () => number = () => 0
  /**
   * Hooks for development tools: called for every misprediction, and for every tick that is predicted for the first
   * time.
   */
  onMistake: MistakeListener | undefined = undefined
  onStepped: ((world: World) => void) | undefined = undefined
  /** Events from `step`. Each is delivered once. */
  readonly events: StepEvents
  readonly #code: UserCode
  readonly #testing: SyncTestOptions
  readonly #checks: ClientHostOptions['checks']
  readonly #shared: Pick<ClientAuthority, 'handleStepped'> | undefined
  readonly #game: Game<I>
  /** The inputs of all other players, if all objects are predicted. */
  readonly others: PeerInputsSink
  readonly #sampler: InputSampler<I>
  #peer: PeerId = 0
  #resyncs = 0
  /** For `HeldInput`: the input of the tick that is being stepped. */
  readonly current: Int32Array
  readonly isHeld = false
  viewTick = -1

  constructor(
    game: Game<I>,
    code: UserCode,
    testing: SyncTestOptions & Pick<ClientHostOptions, 'checks'> = {},
    shared?: Pick<ClientAuthority, 'handleStepped'>,
  ) {
    this.#shared = shared
    this.#code = code
    this.#testing = testing
    this.#checks = testing.checks
    this.events = new StepEvents(game.messages, () => this.predictor?.world, code)
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
    this.#sampler = new InputSampler(game.inputSchema, this.table.heap, code, 'input')
    this.current = game.inputSchema.initialRow.slice()
  }

  /** The client is accepted: from now on it has objects of its own. */
  begin(peer: PeerId, seed: number, sharing: World, corrections: CorrectionListener): void {
    const { tickRate, predict, net, entities } = this.#game
    this.#peer = peer
    this.table.add(peer)
    if (predict === 'none') return
    this.predictor = new Predictor(entities, {
      peer,
      isForAll: predict === 'all',
      tickRate,
      windowTicks: predictionTicks(tickRate, net.predictionMs),
      seed,
      external: this.#code.must('external', peer, () => this.#game.external?.()),
      sharing,
      corrections,
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

  /** Samples inputs for the due ticks and predicts up to them. Returns the number of inputs. */
  tick(now: Millis, viewTick: number): number {
    const { ticks, inputs, predictor } = this
    ticks.advance(now, this.lead.ms)
    if (!ticks.isRunning) return 0
    const target = Math.floor(ticks.ticks)
    if (ticks.resyncs !== this.#resyncs) {
      this.#resyncs = ticks.resyncs
      predictor?.reset()
      // An input that was sent for a tick is final. A client whose clock is set back waits until it has passed the
      // ticks that it already sent inputs for.
      if (target > inputs.newest || inputs.newest - target > INPUT_AHEAD_MAX) inputs.restart(target)
    }
    // After a stall, the authority may already have run some of these ticks with the previous input repeated.
    // Prediction does the same.
    const first = inputs.newest < 0 ? target : Math.max(inputs.newest, inputs.passed, target - CATCH_UP_TICKS_MAX) + 1
    if (first <= target && first > inputs.newest + 1) inputs.restart(first)
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
    const read = this.#checks === undefined ? this.sampleInput : this.#checked
    this.#sampler.sample(read, this.#peer, ring.rows, ring.at(tick))
    this.inputs.push(tick, viewTick < 0 ? tick : viewTick)
  }

  /** The player's input. In development mode, reports fields that the game's input does not have. */
  readonly #checked = (): InitOf<I> => {
    const values = this.sampleInput()
    if (typeof values === 'object') this.#checks?.checkInit('input', this.#game.input, values, this.inputs.newest + 1)
    return values
  }

  #handleStepped(world: World): void {
    this.#shared?.handleStepped(world)
    this.onStepped?.(world)
  }

  /** Runs the game's `step` for the world's current tick, with the inputs of that tick. */
  #step(world: World): void {
    this.#load(this.#peer, this.inputs.ring, world.tick)
    for (const [peer, ring] of this.others.rings) this.#load(peer, ring, world.tick)
    this.events.begin()
    if (this.#checks === undefined) this.#callStep(world)
    else this.#checks.step(world, () => this.#callStep(world))
  }

  #callStep(world: World): void {
    this.#code.must('step', this.#peer, () => this.#game.step(world, this.table))
  }

  /** Loads a player's input of a tick. If it is unknown, the previous input is repeated, as on the authority. */
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
