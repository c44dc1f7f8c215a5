import { expect, test } from 'vitest'
import { bool, defineGame, entity, u8 } from 'tickwire'
import { createRoomHost, type ConnectRequest } from 'tickwire/engine'
import { Dice, StubCrypto } from 'tickwire/testing'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { INVITATIONS_MAX } from '../../packages/tickwire/src/core/base/limits.ts'
import { encodeJoin } from '../../packages/tickwire/src/core/rooms/join-body.ts'
import { Party } from './rooms-party.ts'

const Thing = entity({ x: u8 })
const game = defineGame({ tickRate: 30, input: { go: bool }, entities: [Thing], step: () => {} })

test('[SEAT1] 60 clients ask for 16 seats, onAuth answers in any order: 16 get one, 44 a reason', async () => {
  for (let race = 0; race < 5; race++) {
    const dice = new Prng(race)
    const answers: ((isGood: boolean) => void)[] = []
    const onAuth = (): Promise<unknown> =>
      new Promise((resolve) => {
        answers.push((isGood) => resolve(isGood && 'a user'))
      })
    const party = new Party({ duel: { game, capacity: 16, emptyMs: Infinity, onAuth } })
    const room = party.host.create('duel')
    const guests = Array.from({ length: 60 }, () => party.ask(game, { room: room.id }))
    for (let round = 0; round < 120; round++) {
      await party.runAsync(20)
      expect(room.seats.players).toBeLessThanOrEqual(16)
      if (answers.length > 0) answers.splice(dice.nextInt(0, answers.length - 1), 1)[0]!(dice.nextInt(0, 5) > 0)
    }
    await party.runAsync(1000)
    const closedWith = (code: string): number => guests.filter(({ closed }) => closed?.code === code).length
    expect([
      room.seats.players,
      room.members.length,
      guests.filter(({ closed }) => closed === undefined).length,
    ]).toEqual([16, 16, 16])
    expect(closedWith('full') + closedWith('refused')).toBe(44)
    expect(party.host.door.counts).toMatchObject({ seated: 16, refused: closedWith('refused') })
    // A response that is repeated before its refusal arrives is refused and counted once more.
    expect(party.host.door.counts.full).toBeGreaterThanOrEqual(closedWith('full'))
  }
})

test('[SEAT11] S7: 10,000 pending admissions of a room are a bounded table, and take no seat', () => {
  const host = createRoomHost(
    { duel: { game, capacity: 16, emptyMs: Infinity } },
    { entropy: new Dice(5), security: { provider: new StubCrypto() }, maxRooms: 4 },
  )
  const room = host.create('duel')
  const ask = (connection: number, user: Uint8Array): unknown =>
    host.door.admit({
      connection,
      from: 'x',
      fingerprint: game.fingerprint,
      user,
      data: new Uint8Array(0),
      token: undefined,
    } satisfies ConnectRequest)
  const joins = [
    encodeJoin({ room: room.id }),
    encodeJoin({ quick: 'duel' }),
    encodeJoin({ create: 'duel' }),
    encodeJoin({ create: 'duel', isPrivate: true }),
  ]
  for (let handle = 1; handle <= 10_000; handle++)
    if (!(ask(handle, joins[handle & 3]!) instanceof Uint8Array)) throw new Error(`${handle} was not accepted`)
  expect([host.rooms.length, room.seats.players, host.counts.created]).toEqual([1, 0, 1])
  expect(host.door.invitations.count).toBeLessThanOrEqual(INVITATIONS_MAX)
  host.drain(20_000, { send: () => {} })
  expect([host.door.invitations.count, host.door.invitations.findPlan(() => true)]).toEqual([0, undefined])
})
