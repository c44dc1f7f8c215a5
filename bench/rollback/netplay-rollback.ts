/**
 * The rival: the class RollbackNetcode of netplayjs, from its published source, with a state of ten numbers per object.
 *
 * A frame is the work of a host when the input of the other player of six frames ago arrives: load the state of that
 * frame, step to the present, save every state, and step the due frame. It does so for every input, even if the
 * prediction was right. States are saved by its own serializer, or, where the game returns plain values, by the fastest
 * way that it allows. In both cases it clones them by JSON.
 */

import { moved, start, TICK_S, type Body } from './bodies.ts'

interface Player { isLocalPlayer(): boolean }
interface Input { predictNext(): Input; readonly push: number }
interface Netcode {
  tick(): void
  onRemoteInput(frame: number, player: Player, input: Input): void
  currentFrame(): number
}
interface Modules {
  readonly RollbackNetcode: new (
    isHost: boolean,
    state: unknown,
    players: readonly Player[],
    inputs: Map<Player, Input>,
    maxPredicted: number,
    ping: unknown,
    timestep: number,
    pollInput: () => Input,
    broadcastInput: () => void,
    broadcastState: () => void,
  ) => Netcode
  readonly NetplayPlayer: new (id: number, isLocal: boolean, isHost: boolean) => Player
  readonly NetplayState: new () => object
  readonly NetplayInput: new () => { predictNext(): Input }
}

/** Its source. The published package is for pages, and does not export this class. */
export async function loadNetplay(): Promise<Modules> {
  // Module names that the type checker does not follow, because these modules do not follow our rules.
  const load = async (file: string): Promise<object> =>
    (await import(new URL(`../../node_modules/netplayjs/src/${file}`, import.meta.url).href)) as object
  return { ...(await load('netcode/rollback.ts')), ...(await load('types.ts')) } as unknown as Modules
}

export class NetplayRollback {
  readonly state: { readonly bodies: Body[] }
  readonly #netcode: Netcode
  readonly #remote: Player
  readonly #depth: number
  readonly #makeInput: (push: number) => Input
  #received = 0

  constructor(modules: Modules, count: number, depth: number, isByHand: boolean) {
    const { RollbackNetcode, NetplayPlayer, NetplayState, NetplayInput } = modules
    class Push extends NetplayInput { push = 0 }
    class State extends NetplayState {
      bodies = start(count)
      tick(inputs: Map<Player, Input>): void {
        let push = 0
        for (const input of inputs.values()) push += input.push
        for (let at = 0; at < this.bodies.length; at++) moved(this.bodies[at]!, at === 0 ? push : 0, TICK_S)
      }
    }
    class PlainState extends State {
      serialize(): number[] {
        const values: number[] = []
        for (const { x, y, z, vx, vy, vz, yaw, pitch, health, flags } of this.bodies)
          values.push(x, y, z, vx, vy, vz, yaw, pitch, health, flags)
        return values
      }
      deserialize(values: number[]): void {
        for (let at = 0, from = 0; at < this.bodies.length; at++) {
          const body = this.bodies[at]!
          body.x = values[from++]!
          body.y = values[from++]!
          body.z = values[from++]!
          body.vx = values[from++]!
          body.vy = values[from++]!
          body.vz = values[from++]!
          body.yaw = values[from++]!
          body.pitch = values[from++]!
          body.health = values[from++]!
          body.flags = values[from++]!
        }
      }
    }
    const state = isByHand ? new PlainState() : new State()
    const [local, remote] = [new NetplayPlayer(0, true, true), new NetplayPlayer(1, false, false)]
    this.#makeInput = (push) => Object.assign(new Push(), { push })
    this.state = state
    this.#remote = remote
    this.#depth = depth
    this.#netcode = new RollbackNetcode(
      true,
      state,
      [local, remote],
      new Map([
        [local, this.#makeInput(0)],
        [remote, this.#makeInput(0)],
      ]),
      2 * depth,
      {},
      TICK_S * 1000,
      () => this.#makeInput(0),
      () => {},
      () => {},
    )
    for (let frame = 0; frame < depth; frame++) this.#netcode.tick()
  }

  /** Steps the due frame, and then receives the input of `depth` frames ago. */
  frame(push: number): void {
    this.#netcode.tick()
    this.#netcode.onRemoteInput(++this.#received, this.#remote, this.#makeInput(push))
  }

  /** How many frames are predicted. */
  get ahead(): number {
    return this.#netcode.currentFrame() - this.#received
  }

  get depth(): number {
    return this.#depth
  }
}
