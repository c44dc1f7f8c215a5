import { expect, test } from 'vitest'
import { message } from '../schema/definition.ts'
import { bool, u8 } from '../schema/field-kinds.ts'
import { InputTable } from './input-table.ts'

const Chat = message({ line: u8 }, 'Chat')
const Wave = message({ line: u8 }, 'Wave')

function heldOf(...lanes: number[]): { current: Int32Array; isHeld: boolean; viewTick: number } {
  return { current: Int32Array.from(lanes), isHeld: true, viewTick: 7.5 }
}

test('each player has the input that was loaded for it; a peer without one has the initial values', () => {
  const table = new InputTable({ fire: bool, aim: u8.initially(9) })
  table.add(1)
  table.add(2)
  table.load(1, heldOf(1, 40))
  expect([table.of(1).fire, table.of(1).aim, table.isHeld(1), table.viewTick(1)]).toEqual([true, 40, true, 7.5])
  expect([table.of(2).aim, table.isHeld(2), table.viewTick(2)]).toEqual([9, false, -1])
  expect([table.of(99).fire, table.of(99).aim, table.viewTick(99)]).toEqual([false, 9, -1])
})

test('a player that was removed has the initial values again, and `step` cannot write inputs', () => {
  const table = new InputTable({ fire: bool })
  table.add(1)
  table.load(1, heldOf(1))
  expect(() => { (table.of(1) as { fire: boolean }).fire = false }).toThrow()
  table.remove(1)
  table.remove(1)
  expect(table.of(1).fire).toBe(false)
  table.load(1, heldOf(1))
  expect(table.of(1).fire).toBe(false)
})

test('[GAME4] messages are ordered by player, then by arrival, and are gone after the step', () => {
  const table = new InputTable({ idle: bool })
  for (const [from, kind, line] of [[5, Chat, 1], [2, Chat, 2], [5, Wave, 3], [2, Chat, 4]] as const)
    table.post(from, kind as never, { line })
  table.sortMessages()
  expect(table.messages(Chat).map(({ from, values }) => [from, values.line])).toEqual([[2, 2], [2, 4], [5, 1]])
  expect(table.messages(Wave).map(({ from, values }) => [from, values.line])).toEqual([[5, 3]])
  table.forgetMessages()
  expect(table.messages(Chat)).toEqual([])
})
