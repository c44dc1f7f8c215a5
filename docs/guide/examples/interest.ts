/**
 * The code of docs/guide/interest.md. It is compiled with the tests and run by test/reference/interest-docs.test.ts.
 */

import {
  always, anyOf, bool, entity, int, near, oneOf, owner, team, text, u8, vec2, where, type Match, type PeerId,
  type Viewer, type World,
} from 'tickwire'
import { ClientInterest, Interest, type InterestOptions, type MatchInterest } from 'tickwire/engine'

// #region declare
const at = vec2(-2000, 2000, 0.01).position()

export const Soldier = entity(
  { at, health: u8, ammo: u8.owner() },
  { name: 'Soldier', interest: near(60), priority: 2 },
)
export const Crate = entity(
  { at, kind: oneOf('ammo', 'food') },
  { name: 'Crate', interest: near(40, { leave: 50 }), priority: 0.5 },
)
export const Score = entity({ red: u8, blue: u8 }, { name: 'Score', interest: always })
export const Backpack = entity({ note: text(80) }, { name: 'Backpack', interest: owner })
export const Plan = entity({ at, label: text(20) }, { name: 'Plan', interest: team })
export const Drone = entity({ at, battery: u8 }, { name: 'Drone', interest: anyOf(team, near(25)) })
// #endregion

// #region predicate
/** A submarine is visible only near the surface, or when it shows a light. */
export const Submarine = entity({ at, depth: int(0, 500), hasLight: bool }, {
  name: 'Submarine',
  interest: near(300, { where: (_, boat) => boat.depth < 10 || boat.hasLight }),
})

/** A signal reaches the players whose radio is on its channel. */
export const Radio = entity({ channel: u8 }, { name: 'Radio', interest: owner })
export const Signal = entity(
  { channel: u8, words: text(60) },
  { name: 'Signal', interest: where((viewer, signal) => hears(viewer, signal.channel)) },
)

function hears(viewer: Viewer, channel: number): boolean {
  return viewer.own(Radio)?.channel === channel
}
// #endregion

// #region rate
export const Zombie = entity({
  at: vec2(-2000, 2000, 0.01).position(),
  speed: vec2(-16, 16, 0.01).velocity().rate(30),
  health: u8.rate(20),
  weapon: u8.rate(10),
  mood: oneOf('calm', 'angry', 'afraid').rate(5),
}, { name: 'Zombie', interest: near(80) })

/** A change of a signpost may arrive late. */
export const Signpost = entity({ at, words: text(40) }, { name: 'Signpost', interest: near(30), rate: 2 })
// #endregion

// #region server
/** The options of a server: `serve(game, { interest: referee.interest })`. */
export class Referee {
  readonly teams = new Map<PeerId, number>()
  readonly cameras = new Map<PeerId, { x: number; y: number }>()
  readonly interest: InterestOptions = {
    teamOf: (peer) => this.teams.get(peer) ?? 0,
    viewpoint: (peer, points) => {
      const camera = this.cameras.get(peer)
      if (camera !== undefined) points.add(camera.x, camera.y)
    },
  }
}
// #endregion

// #region rooms
/**
 * For `serveRooms({ duel: { game, interest: roomTeams } })`: `onAuth` returns the team of a player, as in
 * `{ team: 1 }`.
 */
export const roomTeams: MatchInterest<Match> = {
  teamOf: (peer, room) => (room.member(peer)?.user as { team: number } | undefined)?.team ?? 0,
}
// #endregion

export const ENTITIES = [
  Soldier,
  Crate,
  Score,
  Backpack,
  Plan,
  Drone,
  Submarine,
  Radio,
  Signal,
  Zombie,
  Signpost,
] as const

// #region events
/** For your own loop: the objects that each player may know, by the rules of the world and of the referee. */
export function watch(world: World, referee: Referee, peers: readonly PeerId[]): ClientInterest[] {
  const interest = new Interest(world, ENTITIES, referee.interest)
  return peers.map((peer) => new ClientInterest(interest, peer))
}

/** After every tick: the ids of the objects that entered and left the view of a player. */
export function news(client: ClientInterest, tick: number): { came: number[]; went: number[] } {
  client.refresh(tick)
  return {
    came: [...client.entered.subarray(0, client.enteredCount)],
    went: [...client.left.subarray(0, client.leftCount)],
  }
}
// #endregion
