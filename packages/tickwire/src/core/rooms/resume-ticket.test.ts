import { expect, test } from 'vitest'
import { Dice } from 'tickwire/testing'
import { pureProvider } from '../crypto/pure-provider.ts'
import { TICKET_BYTES, TicketMint } from './resume-ticket.ts'

const TICKET = { room: 3, peer: 70_000, serial: 0xfedc_ba98 }

test('[SEAT5] a ticket is read as it was made, also by the next process with the same key', () => {
  const mint = new TicketMint(pureProvider, new Dice(1))
  const bytes = mint.make(TICKET)
  expect(bytes).toHaveLength(TICKET_BYTES)
  expect(mint.read(bytes)).toEqual(TICKET)
  expect(new TicketMint(pureProvider, new Dice(2), mint.key).read(bytes)).toEqual(TICKET)
})

test('[SEAT5] a ticket with any changed bit, of another length or of another process is invalid', () => {
  const mint = new TicketMint(pureProvider, new Dice(1))
  const bytes = mint.make(TICKET)
  for (let bit = 0; bit < TICKET_BYTES * 8; bit++) {
    const forged = bytes.slice()
    forged[bit >> 3]! ^= 1 << (bit & 7)
    expect(mint.read(forged), `bit ${bit}`).toBe(undefined)
  }
  expect(mint.read(bytes.subarray(1))).toBe(undefined)
  expect(new TicketMint(pureProvider, new Dice(2)).read(bytes)).toBe(undefined)
})
