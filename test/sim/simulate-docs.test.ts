/** The code of the guide to testing works as described. */

import { expect, test } from 'vitest'
import { simulate } from 'tickwire/testing'
import { game as party, Player } from '../../docs/guide/examples/party/game.ts'
import { game, Ship } from '../../docs/guide/examples/prediction.ts'

test('[SIM14, SIM15, SIM17] the guide: what happens live', () => {
  // #region live
  const sim = simulate(game, { seed: 3, clients: 2, link: { latencyMs: 80, loss: 0.02 }, keepRooms: true })
  sim.hold(0, { right: true })
  sim.run(1000)
  sim.hold(0, {})
  const late = sim.join()                              // a third player
  const spectator = sim.join({ role: 'spectator' })    // watches, and has no object
  sim.rejoin(0)                                        // reloads the page: the same seat
  sim.leave(1)                                         // leaves for good
  sim.stall('server', 200)                             // a busy main thread, here of the server
  sim.weather({ loss: 1 }, 0)                          // an outage: the player reconnects automatically
  sim.run(3000)
  sim.weather({ latencyMs: 80 }, 0)
  sim.run(3000)
  sim.kill()                                           // the server's process ends without a goodbye
  sim.run(1000)
  sim.restart()                                        // with keepRooms, all players have their seats again
  expect(sim.difference()).toBeUndefined()
  expect(sim.own(0, Ship, late).x).toBe(sim.own(0, Ship).x)
  expect(sim.client(spectator, Ship)).toHaveLength(2)
  // #endregion
})

test('[SIM16] the guide: rooms', () => {
  // #region rooms
  const sim = simulate(game, { clients: 3, rooms: { duel: { capacity: 2 } } })
  expect(sim.rooms.rooms).toHaveLength(2)              // two players in one room, one in the next
  const host = sim.join({ create: 'duel', isPrivate: true })
  const guest = sim.join({ code: sim.room(host).code })
  expect(sim.room(guest)).toBe(sim.room(host))
  expect(sim.server(Ship, sim.room(host))).toHaveLength(2)
  expect(() => sim.join({ code: sim.room(host).code })).toThrow('full')
  // #endregion
})

test('[SIM23] the guide: players join with a name', () => {
  // #region data
  const sim = simulate(party, { clients: 2, data: (client) => ({ name: client === 0 ? 'Ada' : 'Grace' }) })
  expect(sim.own(0, Player, 1).name).toBe('Ada')
  expect(sim.own(1, Player, 0).name).toBe('Grace')
  // #endregion
})

test('[CHECK2] the guide: a game without mistakes has no warnings', () => {
  // #region warnings
  const sim = simulate(game, { clients: 2, onWarning: ({ message }) => { throw new Error(message) } })
  sim.hold(0, { right: true })
  sim.run(1000)
  expect(sim.warnings).toEqual([])
  // #endregion
})
