/** The code of docs/guide/authority.md. It is run by test/contract/authority-guide.test.ts. */

import { bool, defineGame, entity, fixed, rpc, u8, type Match, type PeerId } from 'tickwire'
import { connect, type Room } from 'tickwire/node'

// #region declare
export const Player = entity({ x: fixed(0, 100, 0.1).position(), score: u8 }, { name: 'Player' })

/** The owner simulates the ball, without a round trip; no other peer writes it. */
export const Ball = entity({
  x: fixed(0, 100, 0.1).position(),
  dents: u8,
  /** A server field stays on the server, also when a client owns the ball. */
  prize: u8.server(),
}, { name: 'Ball', authority: 'shared' })

const input = { right: bool, kick: bool, dent: bool }
// #endregion

// #region claim
/** A player claims to have hit a ball; the server asks the owner of the ball. */
export const Claim = rpc({ power: u8 }, { to: 'server', name: 'Claim' })
export const Hit = rpc({ power: u8 }, { to: 'owner', name: 'Hit' })
// #endregion

// #region game
export const game = defineGame({
  tickRate: 60,
  input,
  entities: [Player, Ball],
  rpcs: [Claim, Hit],
  onJoin(world, peer) {
    world.spawn(Player, { x: 50 }, peer)
    if (world.count(Ball) === 0) world.spawn(Ball, { x: 50 })
  },
  /** A player may take a ball that is near. Without this function, only a ball that the server owns. */
  onAuthorityRequest(world, peer, object) {
    const ball = world.see(Ball, object.id)
    const [asker] = [...world.each(Player)].filter(({ owner }) => owner === peer.id)
    return ball !== null && asker !== undefined && Math.abs(asker.x - ball.x) < 10
  },
  step(world, inputs) {
    for (const player of world.each(Player)) if (inputs.of(player.owner).right) player.x += 0.2
    // The same loop on the server and on every client: `each` visits the balls that this peer simulates.
    for (const ball of world.each(Ball)) {
      const { kick, dent } = inputs.of(ball.owner)
      if (kick) ball.x += 0.5
      if (dent) ball.dents++
    }
  },
})
// #endregion

export type Input = typeof input

// #region server
export function arbitrate(server: Match<Input>): void {
  server.handle(Claim, ({ power }, { object }) => {
    const ball = server.world.see(Ball, object)
    if (ball === null) return
    // The server decides about its own balls, and can rewind them. About other balls only the owner can decide.
    if (ball.owner === 0) for (const own of server.world.each(Ball)) own.dents += own.id === object ? 1 : 0
    else server.call(Hit, { power }, { about: ball })
  })
}
// #endregion

// #region client
export function play(room: Room<Input>): void {
  let isHit = false
  // This client owns the ball. It applies the hit with its next input.
  room.handle(Hit, (_values, { object }) => { isHit = room.view.get(Ball, object)?.owner === room.peer })
  room.play({
    input() {
      const dent = isHit
      isHit = false
      return { kick: true, dent }
    },
  })
}
// #endregion

// #region take
export async function take(room: Room<Input>): Promise<boolean> {
  for (const ball of room.view.each(Ball)) {
    const { isGranted } = await room.requestAuthority(ball)
    if (isGranted) return true
  }
  return false
}
// #endregion

// #region watch
/** A spectator sees the view of the first player until it chooses another player. */
export async function watch(url: string): Promise<Room<Input>> {
  return await connect(game, url, { join: { role: 'spectator' } })
}

/** Returns the player that the spectator follows now. */
export async function watchNext(spectator: Room<Input>): Promise<PeerId> {
  return await spectator.spectate('next')
}
// #endregion
