/**
 * A game, as its developer writes it: some entities, an input, and a `step`.
 *
 * The same value runs on the server, in the page and in tests. `step` must be a function of what it is handed: the authority
 * runs it once a tick for everybody, a client runs it for what it predicts, and again when it predicted wrong.
 */

import { ConfigError } from '../base/assert.ts'
import { MESSAGE_TYPES_MAX, TICK_RATE_MAX } from '../base/limits.ts'
import type { PeerId } from '../base/time.ts'
import type { CompileRows } from '../codec/row-code.ts'
import type { RowCoder } from '../codec/row-coder.ts'
import { entropy, type Priors, type SnapshotCodec } from '../codec/snapshot-codec.ts'
import type { Hitboxes } from '../rewind/hitbox.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { Entity, Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import { bool } from '../schema/field-kinds.ts'
import { describeShape, fingerprintOf } from '../schema/fingerprint.ts'
import { compileSchema, type Schema } from '../schema/schema.ts'
import type { ViewOf } from '../schema/value-types.ts'
import type { ObjectIdentity } from '../world/handle.ts'
import type { External, World } from '../world/world.ts'
import { checkDefinition } from './check-definition.ts'
import { snapshotPeriod } from './paced-source.ts'
import { completeSettings, type NetSettings, type Predict } from './settings.ts'

/** Someone in the match. */
export interface Peer {
  readonly id: PeerId
}

/** What the players hold during the tick that is being stepped. */
export interface Inputs<I extends Shape> {
  /** What a player holds; initial values for who holds nothing, such as the authority itself. */
  of(owner: PeerId): ViewOf<I>
  /** His input of this tick did not come in time: what he held before is repeated. Always false where he is predicted. */
  isHeld(owner: PeerId): boolean
  /** The tick, with its fraction, that he looked at when he held this; -1 for who looks at nothing. */
  viewTick(owner: PeerId): number
  /** What players said with `send` since the tick before, ascending by player; on the authority only. */
  messages<S extends Shape>(message: Message<S>): readonly Said<S>[]
}

/** A message that reached `step`. */
export interface Said<S extends Shape> {
  readonly from: PeerId
  readonly values: ViewOf<S>
}

/** What `defineGame` takes. */
export interface GameDefinition<I extends Shape> {
  /** Steps of the simulation a second. */
  readonly tickRate: number
  /** What a player can hold: sampled once a tick, quantised and bounded like any field. */
  readonly input: I
  /** Their order is their number on the wire. */
  readonly entities: readonly Entity[]
  /** What can be said with `send`. Their order is their number on the wire. */
  readonly messages?: readonly Message[]
  /** What can be called with `call` and `request`. Their order is their number on the wire. */
  readonly rpcs?: readonly Rpc[]
  /** What can be hit, by entity: what `world.rewind` casts against. */
  readonly hitboxes?: Hitboxes
  /** A player has arrived. Runs on the authority, at the start of a tick. */
  onJoin?(world: World, peer: Peer): unknown
  /** A player has left; likewise. What he still owns afterwards is despawned, or goes to the server (`onOwnerLeave`). */
  onLeave?(world: World, peer: Peer): unknown
  /**
   * A player wants to write a shared object that he sees and does not own. Runs on the authority. Without it he gets what
   * nobody owns, and nothing else.
   */
  onAuthorityRequest?(world: World, peer: Peer, object: ObjectIdentity): boolean
  /** Whose objects a client simulates ahead of the authority. Default: his own. */
  readonly predict?: Predict
  /** Whether own objects are drawn on their way to the tick to come, which costs a step of them a draw. Default: they are. */
  readonly drawAhead?: boolean
  /** How rows become bits: `packed`, `entropy()` or `entropy(priors)`. Default: `entropy()`. */
  readonly codec?: SnapshotCodec
  /** Numbers of the netcode, where they are not the defaults. */
  readonly net?: Partial<NetSettings>
  /** What `step` keeps outside the schema, made anew for every world that is stepped. */
  external?(): External
  /** Moves the world by one tick. */
  step(world: World, inputs: Inputs<I>): void
}

/** A game that was checked and compiled. */
export interface Game<I extends Shape = Shape> extends GameDefinition<I> {
  readonly messages: readonly Message[]
  readonly rpcs: readonly Rpc[]
  readonly predict: Predict
  readonly drawAhead: boolean
  readonly codec: SnapshotCodec
  /** Of the codec, by entity. They keep nothing from one row to the next, so that all matches and views of a game share them. */
  readonly coders: readonly RowCoder[]
  /** Coders by what training found since; a ConfigError on what is nothing of the kind. Of the game, so that a page has only the codec it uses. */
  readonly codersBy: (priors: Priors) => readonly RowCoder[]
  /** Has code made for the rows of its entities, from now on and once for all of its matches: the same bits in less time. */
  readonly compile: (compile: CompileRows) => void
  /** Ticks from one snapshot to the next. Codecs that look at the row before a baseline find it so much earlier. */
  readonly snapshotTicks: number
  readonly net: NetSettings
  readonly inputSchema: Schema<I>
  /** Everything two builds must agree on, as text: what a mismatch is about. */
  readonly text: string
  /** Eight bytes of that text; the handshake compares them. */
  readonly fingerprint: Uint8Array
}

/** Checks and compiles a game, or throws a ConfigError that names the path and the fix. */
export function defineGame<const I extends Shape>(definition: GameDefinition<I>): Game<I> {
  checkDefinition(definition)
  const { tickRate, entities, messages = [], rpcs = [], predict = 'owned', drawAhead = true, codec = entropy() } = definition
  if (!Number.isInteger(tickRate) || tickRate < 1 || tickRate > TICK_RATE_MAX) {
    throw new ConfigError('tickRate', `${tickRate} ticks a second`, `Give a whole number from 1 to ${TICK_RATE_MAX}.`)
  }
  const net = completeSettings(tickRate, definition.net ?? {})
  const inputSchema = compileSchema('input', inputOf(definition))
  const input = inputSchema.shape
  checkDistinct('entities', entities)
  checkDistinct('messages', messages)
  checkDistinct('rpcs', rpcs)
  if (messages.length + rpcs.length > MESSAGE_TYPES_MAX) {
    throw new ConfigError('messages', `${messages.length}, and ${rpcs.length} rpcs`, `Merge some: at most ${MESSAGE_TYPES_MAX} together.`)
  }
  const coders = codersOf(codec, entities, tickRate)
  let compileBy: CompileRows | undefined
  const compiled = (made: readonly RowCoder[]): readonly RowCoder[] => {
    if (compileBy !== undefined) for (const coder of made) coder.compile?.(compileBy)
    return made
  }
  const shared = entities.find(({ isShared }) => isShared)
  if (shared !== undefined && predict !== 'owned') {
    throw new ConfigError('predict', `'${predict}', and ${shared.schema.name} is shared`, "Owners simulate what they own: say predict: 'owned', or let the server have it.")
  }
  const snapshotTicks = snapshotPeriod(tickRate, net.snapshotRate)
  const text = [
    `tickRate ${tickRate}`,
    ...(predict === 'all' ? ['predict all'] : []),
    `codec ${codec.text}${snapshotTicks === 1 ? '' : ` every ${snapshotTicks}`}`,
    `input ${describeShape(input)}`,
    ...entities.map((entity, type) => `entity ${type} ${entity.schema.text}${entity.isShared ? ' shared' : ''}`),
    ...messages.map((message, type) => `message ${type} ${message.schema.text}${deliveryText(message)}`),
    ...rpcs.map((rpc, type) => `rpc ${type} ${rpc.text}`),
  ].join('\n')
  return {
    ...definition, input, messages, rpcs, predict, drawAhead, codec, coders, snapshotTicks, net,
    codersBy: (priors) => {
      if (codec.name !== 'entropy') throw new ConfigError('codec', `${codec.name} has no tables`, 'Say codec: entropy().')
      return compiled(codersOf(entropy(priors), entities, tickRate))
    },
    compile: (compile) => {
      compileBy = compile
      compiled(coders)
    },
    inputSchema, text, fingerprint: littleEndian(fingerprintOf(text)),
  }
}

/** Whoever plays a game was given one: what `defineGame` takes looks much like what it makes. */
export function checkGame(game: Game | undefined): void {
  if (!(game?.fingerprint instanceof Uint8Array)) throw new ConfigError('game', 'not made by defineGame', 'Give what defineGame({ … }) returned.')
}

/** Coders of a game's entities, or a ConfigError that says why the codec has none for them. */
export function codersOf(codec: SnapshotCodec, entities: readonly Entity[], tickRate: number): readonly RowCoder[] {
  const stray = Object.keys(codec.priors).find((name) => !entities.some(({ schema }) => schema.name === name))
  if (stray !== undefined) {
    throw new ConfigError('codec', `priors for "${stray}", which is no entity of the game`, "Train again, or name it: entity(shape, { name: '…' }).")
  }
  return entities.map(({ schema }) => codec.make(schema, tickRate))
}

/** What players of a game without inputs hold: a row has a field at least, and one that never changes costs nothing to say. */
const NO_INPUT = { nothing: bool }

function inputOf<I extends Shape>({ input }: Pick<GameDefinition<I>, 'input'>): I {
  return Object.keys(input).length === 0 ? NO_INPUT as Shape as I : input
}

/** Nothing for what is reliable, so that a game without other deliveries has the text it always had. */
function deliveryText({ delivery }: Message): string {
  return delivery === 'reliable' ? '' : ` ${delivery}`
}

function checkDistinct(path: string, definitions: readonly (Entity | Message | Rpc)[]): void {
  if (new Set(definitions).size !== definitions.length) {
    throw new ConfigError(path, 'the same definition twice', 'List each one once.')
  }
}

function littleEndian(words: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(words.length * 4)
  for (let at = 0; at < bytes.length; at++) bytes[at] = words[at >>> 2] >>> ((at & 3) * 8)
  return bytes
}
