import { expect, test } from 'vitest'
import { Dice } from 'tickwire/testing'
import { bool, fixed } from '../schema/field-kinds.ts'
import { entity } from '../schema/definition.ts'
import { createClientHost } from './client-host.ts'
import { ClientTrace } from './client-trace.ts'
import { defineGame } from './define-game.ts'

const Dot = entity({ x: fixed(0, 100, 1) }, { name: 'Dot' })
const game = defineGame({ tickRate: 20, input: { go: bool }, entities: [Dot], step() {} })

test('`view` is drawn at the latest time that any call passed', () => {
  const trace = new ClientTrace()
  const host = createClientHost(game, { entropy: new Dice(1), trace })
  const calls: ((now: number) => unknown)[] = [
    (now) => host.connect(now, 'server'),
    (now) => host.tick(now),
    (now) => host.drain(now, { send: () => {} }),
    (now) => host.handleDatagram(now, 'server', new Uint8Array(4), 4),
    (now) => host.draw(now),
    (now) => host.close(now),
  ]
  const drawnAt = calls.map((call, index) => {
    call(100 * (index + 1))
    void host.view
    const last = trace.entries.at(-1)
    return last?.kind === 'draw' ? last.now : undefined
  })
  expect(drawnAt).toEqual([100, 200, 300, 400, 500, 600])
})
