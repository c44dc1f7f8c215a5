import { expect, test } from 'vitest'
import { bool, createRoomHost, defineGame, entity, u8, type ConnectRequest } from 'tickwire'
import { Dice, StubCrypto } from 'tickwire/testing'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { encodeJoin } from '../../packages/tickwire/src/core/game/rooms/join-body.ts'

const Thing = entity({ x: u8 })
const game = defineGame({ tickRate: 30, input: { go: bool }, entities: [Thing], step: () => {} })

test('[SEAT1] through the door of a room: a thousand ask for 16 seats, onAuth answers in any order, a thousand times over', async () => {
  let answers: ((isGood: boolean) => void)[] = []
  const host = createRoomHost({
    duel: { game, capacity: 16, emptyMs: Infinity, onAuth: () => new Promise((resolve) => { answers.push((isGood) => resolve(isGood && 'somebody')) }) },
  }, { entropy: new Dice(5), security: { provider: new StubCrypto() }, maxRooms: 10_000 })
  let handle = 0
  let refused = 0
  for (let race = 0; race < 1000; race++) {
    const dice = new Prng(race)
    const room = host.create('duel')
    const user = encodeJoin({ room: room.id })
    const request = (): ConnectRequest => ({ connection: ++handle, from: 'x', fingerprint: game.fingerprint, user, token: undefined })
    answers = []
    let letIn = 0
    for (let asked = 0; asked < 1000; asked++) {
      host.door.admit(request())
      if (room.seats.players > 16) throw new Error(`race ${race}: ${room.seats.players} seats`)
      // Now and then one of the answers comes, and its seat may be free again.
      if (answers.length === 0 || dice.nextInt(0, 9) > 0) continue
      answers.splice(dice.nextInt(0, answers.length - 1), 1)[0]!(dice.nextInt(0, 1) === 1)
      await Promise.resolve()
      host.door.takeAnswers((_handle, verdict) => {
        if (verdict === 'refused') refused++
        else letIn++
        return true
      })
    }
    if (letIn > 16) throw new Error(`race ${race}: ${letIn} were let in`)
    room.end()
    host.tick(race)
  }
  expect(refused).toBeGreaterThan(1000)
  expect(host.door.counts.full).toBeGreaterThan(900_000)
})
