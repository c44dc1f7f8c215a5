import { expect, test } from 'vitest'
import { describeDatagram, inputDatagram } from '../../docs/guide/examples/foreign-packets.ts'
import { readRtype } from './rtype-checker.ts'

test('[RTYPE1] the example of the guide writes what the protocol says', () => {
  const datagram = inputDatagram(7, 3, 4)
  expect(readRtype(datagram)).toEqual({
    name: 'PLAYER_INPUT', flags: 0, sequence: 3, timestamp: 4,
    fields: { player_id: 7, input_state: 0x11, aim_direction_x: 1000, aim_direction_y: 0 },
  })
  expect(describeDatagram(datagram)).toBe('PLAYER_INPUT 3')
  expect(describeDatagram(datagram.subarray(0, 21))).toBe('dropped: size')
})
