/**
 * A game, as the developer defines it: entities, an input, and a `step`.
 *
 * The same value runs on the server, in the page and in tests. `step` must depend only on its arguments: the authority
 * runs it once per tick for all players; a client runs it for what it predicts, and again after a misprediction.
 */

import { ConfigError } from '../base/assert.ts'
import { JOIN_DATA_BYTES_MAX, MESSAGE_TYPES_MAX, TICK_RATE_MAX } from '../base/limits.ts'
import { ROOM_OPTIONS_BYTES_MAX } from '../base/limits-doors.ts'
import type { PeerId } from '../base/time.ts'
import type { CompileRows } from '../codec/row-code.ts'
import type { RowCoder } from '../codec/row-coder.ts'
import { entropy, type Priors, type SnapshotCodec } from '../codec/snapshot-codec.ts'
import type { Hitboxes } from '../rewind/hitbox-shape.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { Entity, Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import { describeShape, fingerprintOf } from '../schema/fingerprint.ts'
import { compileSchema, orNothing, type Schema } from '../schema/schema.ts'
import { checkValueSizes } from '../schema/value-sizes.ts'
import type { ViewOf } from '../schema/value-types.ts'
import type { ObjectIdentity } from '../world/handle.ts'
import type { External } from '../world/external.ts'
import type { World } from '../world/world.ts'
import { checkDefinition } from './check-definition.ts'
import { snapshotPeriod } from './paced-source.ts'
import { JoinCodec } from './join-codec.ts'
import { completeSettings, type NetSettings, type Predict } from './settings.ts'

/** A participant of the match. */
export interface Peer {
  /** The peer's id: 1 and up for players, unique in the match. */
  readonly id: PeerId
}

/** The players' inputs in the tick that is being stepped. */
export interface Inputs<I extends Shape> {
  /** The input of a player. Initial values for a peer without inputs, such as the authority. */
  of(owner: PeerId): ViewOf<I>
  /** The player's input of this tick was late and the previous input is repeated. Always false under prediction. */
  isHeld(owner: PeerId): boolean
  /** The tick, with its fraction, that the player saw when it gave this input. -1 for a peer without a view. */
  viewTick(owner: PeerId): number
  /** Messages that players sent with `send` since the previous tick, ascending by player. Only on the authority. */
  messages<S extends Shape>(message: Message<S>): readonly Said<S>[]
}

/** A message that reached `step`. */
export interface Said<S extends Shape> {
  /** The player that sent it. */
  readonly from: PeerId
  /** The values of the message. */
  readonly values: ViewOf<S>
}

/** The argument of `defineGame`. */
export interface GameDefinition<I extends Shape, J extends Shape = Shape, O extends Shape = Shape> {
  /** Simulation ticks per second. */
  readonly tickRate: number
  /** The input of a player. Sampled once per tick, quantised and bounded like any field. */
  readonly input: I
  /**
   * What a client joins with, such as `{ name: text(16) }`: `connect(game, url, { data: { name } })`. At most 1,024
   * bytes. Default: nothing.
   */
  readonly join?: J
  /**
   * What a client chooses for a room that it creates, such as `{ map: u8 }`: `connect(game, url, { join: { create:
   * 'duel', options: { map: 2 } } })`. The server reads it as `room.options`. At most 128 bytes. Default: nothing.
   */
  readonly roomOptions?: O
  /** The order determines the numbers on the wire. */
  readonly entities: readonly Entity[]
  /** Messages for `send`. The order determines the numbers on the wire. Default: none. */
  readonly messages?: readonly Message[]
  /** RPCs for `call` and `request`. The order determines the numbers on the wire. Default: none. */
  readonly rpcs?: readonly Rpc[]
  /** Hitboxes by entity. `world.rewind` casts against them. Default: none. */
  readonly hitboxes?: Hitboxes
  /**
   * A player has joined, with its join data. A bot has the initial values of `join`. Runs on the authority, at the
   * start of a tick.
   */
  onJoin?(world: World, peer: Peer, data: ViewOf<J>): unknown
  /**
   * A player has left. Runs like `onJoin`. Objects it still owns afterwards are despawned or go to the server
   * (`onOwnerLeave`).
   */
  onLeave?(world: World, peer: Peer): unknown
  /**
   * A player asks to write a shared object that it sees and does not own. Runs on the authority. Without this function,
   * only objects that belong to the server are granted.
   */
  onAuthorityRequest?(world: World, peer: Peer, object: ObjectIdentity): boolean
  /** The objects that a client simulates ahead of the authority. Default: its own. */
  readonly predict?: Predict
  /** Whether own objects are drawn ahead, towards the next tick. Costs one step of them per draw. Default: true. */
  readonly drawAhead?: boolean
  /** The encoding of rows: `packed`, `entropy()` or `entropy(priors)`. Default: `entropy()`. */
  readonly codec?: SnapshotCodec
  /** Netcode settings that differ from the defaults. Default: those of `profiles.fusion`. */
  readonly net?: Partial<NetSettings>
  /** State that `step` keeps outside the schema. Created for every world that is stepped. */
  external?(): External
  /** Advances the world by one tick. */
  step(world: World, inputs: Inputs<I>): void
}

/** A game that was checked and compiled. */
export interface Game<I extends Shape = Shape, J extends Shape = Shape, O extends Shape = Shape>
  extends GameDefinition<I, J, O> {
  readonly messages: readonly Message[]
  readonly rpcs: readonly Rpc[]
  readonly predict: Predict
  readonly drawAhead: boolean
  readonly codec: SnapshotCodec
  /** The codec's coders. Indexed by entity type. They are stateless, so all matches and views of a game share them. */
  readonly coders: readonly RowCoder[]
  /**
   * Coders for newly trained priors. Throws ConfigError on invalid priors. A member of the game, so that a page
   * contains only the codec it uses.
   */
  readonly codersBy: (priors: Priors) => readonly RowCoder[]
  /** Compiles specialised code for the entities' rows, once for all matches of the game: the same bits in less time. */
  readonly compile: (compile: CompileRows) => void
  /** Ticks from one snapshot to the next. A codec that uses the row before a baseline finds it this much earlier. */
  readonly snapshotTicks: number
  readonly net: NetSettings
  /** Encodes and decodes the data that clients join with. */
  readonly joinCodec: JoinCodec
  /** Encodes and decodes the options of a new room. */
  readonly optionsCodec: JoinCodec
  /** The compiled fields of an input. */
  readonly inputSchema: Schema<I>
  /** Everything that two builds must agree on, as text. It explains a fingerprint mismatch. */
  readonly text: string
  /** Eight bytes derived from that text. The handshake compares them. */
  readonly fingerprint: Uint8Array
}

/** The join data, or the room options, of a game without any. */
export type NoJoin = Record<never, never>

/** Checks and compiles a game. Throws a ConfigError that names the path and the fix. */
export function defineGame<
  const I extends Shape,
  const J extends Shape = NoJoin,
  const O extends Shape = NoJoin,
>(definition: GameDefinition<I, J, O>): Game<I, J, O> {
  checkDefinition(definition)
  const {
    tickRate,
    entities,
    messages = [],
    rpcs = [],
    predict = 'owned',
    drawAhead = true,
    codec = entropy(),
  } = definition
  if (!Number.isInteger(tickRate) || tickRate < 1 || tickRate > TICK_RATE_MAX) {
    throw new ConfigError(
      'tickRate',
      `invalid rate (expected an integer from 1 to ${TICK_RATE_MAX}, got ${tickRate})`,
      'give ticks a second.',
    )
  }
  const net = completeSettings(tickRate, definition.net ?? {})
  const inputSchema = compileSchema('input', orNothing(definition.input))
  checkValueSizes(inputSchema, 'an input')
  const input = inputSchema.shape
  const joinCodec = new JoinCodec(definition.join)
  const optionsCodec = optionsOf(definition, joinCodec)
  checkDistinct('entities', entities)
  checkDistinct('messages', messages)
  checkDistinct('rpcs', rpcs)
  checkCount(messages, rpcs)
  const coders = codersOf(codec, entities, tickRate)
  let compileBy: CompileRows | undefined
  const compiled = (made: readonly RowCoder[]): readonly RowCoder[] => {
    if (compileBy !== undefined) for (const coder of made) coder.compile?.(compileBy)
    return made
  }
  const shared = entities.find(({ isShared }) => isShared)
  if (shared !== undefined && predict !== 'owned') {
    throw new ConfigError(
      'predict',
      `'${predict}' contradicts ${shared.schema.name}, which is shared`,
      "write predict: 'owned', or remove authority: 'shared' from the entity.",
    )
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
    ...(joinCodec.schema === undefined ? [] : [`join ${joinCodec.schema.text}`]),
    ...(optionsCodec.schema === undefined ? [] : [`roomOptions ${optionsCodec.schema.text}`]),
  ].join('\n')
  return {
    ...definition, input, messages, rpcs, predict, drawAhead, codec, coders, snapshotTicks, net,
    codersBy: (priors) => {
      if (codec.name !== 'entropy')
        throw new ConfigError('codec', `codec ${codec.name} has no tables`, 'write codec: entropy().')
      return compiled(codersOf(entropy(priors), entities, tickRate))
    },
    compile: (compile) => {
      compileBy = compile
      compiled(coders)
    },
    inputSchema, joinCodec, optionsCodec, text, fingerprint: littleEndian(fingerprintOf(text)),
  }
}

/** Throws if the argument was not made by `defineGame`. A bare definition looks much like a game. */
export function checkGame(game: Game | undefined): void {
  if (!(game?.fingerprint instanceof Uint8Array))
    throw new ConfigError('game', 'not made by defineGame', 'pass the result of defineGame({ … }).')
}

/** The coders of a game's entities. Throws a ConfigError that says why the codec does not support an entity. */
export function codersOf(codec: SnapshotCodec, entities: readonly Entity[], tickRate: number): readonly RowCoder[] {
  const stray = Object.keys(codec.priors).find((name) => !entities.some(({ schema }) => schema.name === name))
  if (stray !== undefined) {
    throw new ConfigError(
      'codec',
      `priors for "${stray}", which is not an entity of the game`,
      "train again, or name the entity: entity(shape, { name: '…' }).",
    )
  }
  return entities.map(({ schema }) => codec.make(schema, tickRate))
}

/** The codec of the room options. They share a packet with the join data. */
function optionsOf({ roomOptions }: Pick<GameDefinition<Shape>, 'roomOptions'>, join: JoinCodec): JoinCodec {
  const bytesMax = Math.min(ROOM_OPTIONS_BYTES_MAX, JOIN_DATA_BYTES_MAX - join.bytesMax)
  return new JoinCodec(roomOptions, 'roomOptions', bytesMax)
}

/** Empty for reliable messages, so that a game without other deliveries keeps its existing text. */
function deliveryText({ delivery }: Message): string {
  return delivery === 'reliable' ? '' : ` ${delivery}`
}

function checkCount({ length: messages }: readonly Message[], { length: rpcs }: readonly Rpc[]): void {
  if (messages + rpcs > MESSAGE_TYPES_MAX) {
    throw new ConfigError(
      'messages',
      `too many (expected at most ${MESSAGE_TYPES_MAX} messages and rpcs, got ${messages} and ${rpcs})`,
      'merge some.',
    )
  }
}

function checkDistinct(path: string, definitions: readonly (Entity | Message | Rpc)[]): void {
  if (new Set(definitions).size !== definitions.length) {
    throw new ConfigError(path, 'the same definition twice', 'list each definition once.')
  }
}

function littleEndian(words: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(words.length * 4)
  for (let at = 0; at < bytes.length; at++) bytes[at] = words[at >>> 2] >>> ((at & 3) * 8)
  return bytes
}
