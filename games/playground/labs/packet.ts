/** Lab 8. What is in a packet, to the bit. */

import { bool, defineGame, entity, int, unsealedProvider, vec2, type Game } from 'tickwire'
import { simulate, StubCrypto } from 'tickwire/testing'
import { defineLab, type Figure, type Lab } from '../lab.ts'
import { figure, screen } from '../lab-parts.ts'
import { packetParts, type Part, type PartName } from '../packet-parts.ts'
import type { Pen, Role } from '../pen.ts'
import { latency, loss, weatherOf } from '../weather-dials.ts'

const Walker = entity({ at: vec2(0, 320, 0.1).position(), turn: int(-1, 1).server() })
const input = { left: bool, right: bool, up: bool, down: bool }

const crowd = (count: number, isWalking: boolean): Game<typeof input> => defineGame({
  tickRate: 60,
  input,
  entities: [Walker],
  onJoin(world, peer) {
    world.spawn(Walker, { at: { x: 160, y: 90 } }, peer)
    for (let n = 1; n < count; n++) {
      world.spawn(Walker, { at: { x: 20 + (n * 53) % 280, y: 20 + (n * 37) % 140 } })
    }
  },
  step(world, inputs) {
    for (const walker of world.each(Walker)) {
      const { left, right, up, down } = inputs.of(walker.owner)
      if (walker.owner === 0 && isWalking && world.every(30, walker.id)) {
        const { x } = walker.at
        walker.turn = x < 40 ? 1 : x > 280 ? -1 : world.random.int(walker, -1, 1)
      }
      walker.at.x += +right - +left + walker.turn
      walker.at.y += +down - +up
    }
  },
})

export const packet: Lab = defineLab({
  name: 'packet',
  title: 'What a packet contains',
  idea: 'Many times a second a few dozen bytes each way. This is what each bit of them is for.',
  words: `A packet each way, bit by bit: squares are ones, specks are zeros. The header says whose it
    is, the acks what arrived, and the seal that nobody touched it. In between ride frames: your keys
    of the last ticks, and of the world what has changed since what you are known to hold. Let
    everybody stand still, and the snapshot is gone.`,
  guide: 'bandwidth.md',
  hint: 'Walk with the arrow keys; pause to read',
  dials: {
    walkers: { label: 'Walkers', value: 8, min: 1, max: 60, step: 1, unit: '' },
    walking: { label: 'They walk', value: true },
    latency: latency(40), loss: loss(0),
  },

  open({ walkers, walking, ...weather }, hands) {
    // The seal is left empty here, or not even we could look inside.
    const security = { provider: unsealedProvider(new StubCrypto()) }
    const sim = simulate(crowd(walkers, walking), { link: weatherOf(weather), security })
    sim.script(0, (tick) => hands.keys ?? (walking ? { right: tick % 120 < 60, left: tick % 120 >= 60 } : {}))

    const last: [down: Opened | undefined, up: Opened | undefined] = [undefined, undefined]
    let [seen, named] = [0, 0]
    sim.players[0]!.link.onFlight = ({ side, sentAt, bytes, length }) => {
      const copy = bytes.slice(0, length)
      if (copy[4] !== PAYLOAD) return
      seen++
      const parts = packetParts(copy)
      if (parts === undefined) return
      named++
      // A few a second are shown: who could read sixty?
      if (sentAt >= (last[side]?.sentAt ?? -Infinity) + SHOWN_MS) last[side] = { sentAt, bytes: copy, parts }
    }

    const part = (title: string, role: Role, ...names: readonly PartName[]): Figure => {
      const parts = last[0]?.parts.filter(({ name }) => names.includes(name)) ?? []
      return figure(`of it: ${title}`, `${parts.reduce((bits, { from, to }) => bits + to - from, 0)} bits`, role)
    }
    return {
      sims: [sim],
      screens: [
        screen('Server to you', 'server', 'what the server tells', (pen) => drawBits(pen, last[0])),
        screen('You to the server', 'you', 'what you hold', (pen) => drawBits(pen, last[1])),
        screen('Your screen', 'you', 'everybody in view', (pen) => {
          for (const { at, owner } of sim.client(0, Walker)) pen.square(at.x, at.y, 12, owner === 0 ? 'server' : 'you')
        }),
      ],
      figures: () => [
        figure('You to the server', `${last[1]?.bytes.length ?? 0} bytes`, 'you'),
        figure('Server to you', `${last[0]?.bytes.length ?? 0} bytes`, 'server'),
        part('Header, heads', 'ink', 'header', 'head'),
        part('Acks', 'good', 'acks'),
        part('Timing', 'other', 'timing'),
        part('Snapshot', 'server', 'snapshot'),
        part('Seal', 'muted', 'seal', 'padding'),
      ],
      claim: () => ({
        text: `Every bit has a name: ${named} of ${seen} packets were read to their last bit.`,
        isHeld: seen < 60 ? undefined : named === seen,
      }),
    }
  },
})

/** A packet as it was sent, and its parts. */
interface Opened {
  readonly sentAt: number
  readonly bytes: Uint8Array
  readonly parts: readonly Part[]
}

const SHOWN_MS = 240
const PAYLOAD = 1
const COLORS: { readonly [name in PartName]: Role } = {
  header: 'ink', head: 'ink', acks: 'good', inputs: 'you', snapshot: 'server', timing: 'other',
  messages: 'bad', other: 'bad', padding: 'faint', seal: 'muted',
}

/** A square for a one, a speck for a zero; four bytes a row, or eight where there are many. */
function drawBits(pen: Pen, opened: Opened | undefined): void {
  if (opened === undefined) return
  const { bytes, parts } = opened
  const columns = bytes.length <= 68 ? 32 : 64
  const pitch = 270 / columns
  for (const { name, from, to } of parts) {
    for (let bit = from; bit < to; bit++) {
      const isOne = ((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7)) & 1) === 1
      const column = bit % columns
      const [x, y] = [16 + column * pitch + (column >> 3) * 5, 9 + Math.floor(bit / columns) * 10]
      pen.square(x, y, isOne ? Math.min(pitch * 0.8, 6) : 1.8, COLORS[name])
    }
  }
}
