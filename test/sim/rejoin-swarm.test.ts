import { afterEach, describe, expect, test } from 'vitest'
import type { RejoinDesk } from '../../packages/tickwire/src/core/order-relay/rejoin-desk.ts'
import { WorldEncoder } from '../../packages/tickwire/src/core/world/world-image.ts'
import { form } from '../form.ts'
import type { LockstepParty } from './lockstep-party.ts'
import { playRejoin } from './rejoin-swarm.ts'
import { sha256 } from './replay-party.ts'

test('[REJOIN11, I11, I40, I41, I42, I43, I44] clients join old matches, with crashes and liars', () => {
  const sums: Record<string, number> = {}
  for (let seed = 1; seed <= form(4, 300); seed++) {
    const { violation, counts } = playRejoin(seed)
    expect(violation && `seed ${seed}: ${violation.invariant} ${violation.problem}`).toBeUndefined()
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
  }
  for (const name of ['joined', 'images passed', 'images refused', 'verified']) expect(sums[name]).toBeGreaterThan(0)
})

/** Once for each match. */
function once(plant: (party: LockstepParty) => void): (party: LockstepParty) => void {
  const done = new WeakSet<LockstepParty>()
  return (party) => {
    if (done.has(party)) return
    done.add(party)
    plant(party)
  }
}

/** The desk takes the digest of the donor's image for that of each witness. */
function believeDonor(desk: RejoinDesk): void {
  const { handleMessage } = desk
  const early: Parameters<typeof handleMessage>[] = []
  let digest: Uint8Array | undefined
  desk.handleMessage = (now, peer, message) => {
    if (message.kind === 'image') digest = sha256(message.bytes)
    if (message.kind === 'digest' && digest === undefined) return void early.push([now, peer, message])
    const isDigest = message.kind === 'digest' && digest !== undefined
    handleMessage.call(desk, now, peer, isDigest ? { ...message, bytes: digest! } : message)
    if (message.kind === 'image') for (const each of early.splice(0)) desk.handleMessage(...each)
  }
}

const standStill = once((party) => { party.freeze(200) })

const { advance } = WorldEncoder.prototype
afterEach(() => { WorldEncoder.prototype.advance = advance })

interface Planted {
  readonly finds: string
  readonly name: string
  /** The first seed: liars are rare. */
  readonly from?: number
  readonly plant: (party: LockstepParty) => void
}

/** Bugs, by the invariant that must find them. */
const PLANTS: readonly Planted[] = [
  {
    finds: 'I40', name: 'the relay gives no old ticks',
    plant: once(({ match: { desk } }) => {
      const { take } = desk
      desk.take = () => take.call(desk).filter(({ message }) => message.kind !== 'past')
    }),
  },
  {
    finds: 'I41', name: 'the relay stands still while it passes on an image',
    plant(party) {
      const { match: { desk }, clients } = party
      if (clients.some(({ client }) => desk.isDonor(client.player))) standStill(party)
    },
  },
  {
    finds: 'I42', name: 'a tick is sealed with other bytes than those that were recorded',
    from: 2,
    plant({ match: { relay: { log } } }) {
      const at = log.endOf(40)
      // The tick is recorded by then. It is sealed some time after 256, and is right again when clients join.
      if (log.newest > 200 && log.newest < 370) log.bytes[at]! |= 0x80
      else if (log.newest < 389) log.bytes[at]! &= 0x7f
    },
  },
  {
    finds: 'I43', name: 'the relay believes every donor',
    from: 30,
    plant: once(({ match: { desk } }) => { believeDonor(desk) }),
  },
  {
    finds: 'I44', name: 'an image in small slices has another last byte',
    plant: once(() => {
      WorldEncoder.prototype.advance = function (sizeBytes) {
        const isDone = advance.call(this, sizeBytes)
        if (sizeBytes === 1 && this.image !== undefined) this.image[this.image.length - 1]! ^= 1
        return isDone
      }
    }),
  },
]

describe('planted bugs', () => {
  test.each(PLANTS)('[REJOIN11, $finds] $name: found', ({ finds, from = 1, plant }) => {
    for (let seed = from; seed < from + 12; seed++) {
      const { violation } = playRejoin(seed, plant)
      if (violation === undefined) continue
      expect(violation.invariant).toBe(finds)
      return
    }
    expect.unreachable('not found in 12 seeds')
  })
})
