/** S5: hundreds of tiny messages in every packet, within the rate of packets that a member may send. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Shape } from 'tickwire'
import { createClientHost, createRoomHost, type ClientHost } from 'tickwire/engine'
import { bestProvider } from '../../../packages/tickwire/src/node/crypto.ts'
import { Dice } from '../../../packages/tickwire/src/testing/sim-entropy.ts'
import type { AttackReport } from '../stage.ts'
import { joinByUdp, within } from './udp-client.ts'
import { Chat, Ember, Spark, victimGame } from './victim-game.ts'
import { withVictim } from './victim.ts'

const PACKETS_PER_SECOND = 700
const CALM_PACKETS_PER_SECOND = 60
const ROUNDS = 7
const MEMBERS_PER_ROUND = 12
const PACKETS_PER_MEMBER = 40

/**
 * One member floods a real server while an honest member plays. Then the cost of a packet is measured, at a high and at
 * a low rate.
 */
export async function messageFlood(seconds: number): Promise<AttackReport[]> {
  return [...await floodVictim(seconds), costRatio()]
}

/** 256 messages of one channel, which is its limit, and 104 of another: 360 in a packet. */
function say(host: ClientHost<Shape>): void {
  for (let number = 0; number < 256; number++) host.send(Spark, { number: number & 255 })
  for (let number = 0; number < 104; number++) host.send(Ember, { number })
}

async function floodVictim(seconds: number): Promise<AttackReport[]> {
  return await withVictim({}, async (victim) => {
    const alice = await joinByUdp(victim.udpPort)
    const mallory = await joinByUdp(victim.udpPort)
    if (!(await within(5000, () => alice.host.peer !== 0 && mallory.host.peer !== 0)))
      throw new Error('the members were not let in')
    // The cost of the measurement itself, which collects garbage, and of the server without the flood.
    const asked = [await victim.ask(), await victim.ask()]
    const askMs = asked[1]!.cpuMs - asked[0]!.cpuMs
    await sleep(1000)
    const before = await victim.ask()
    const idleMs = Math.max(0, before.cpuMs - asked[1]!.cpuMs - askMs)
    const startedAt = performance.now()
    let [sent, now] = [0, startedAt]
    while (performance.now() < startedAt + seconds * 1000) {
      for (const due = (performance.now() - startedAt) / 1000 * PACKETS_PER_SECOND; sent < due; sent++) {
        say(mallory.host)
        mallory.pump(now += 20)
      }
      alice.host.send(Chat, { line: 'hello' })
      await sleep(5)
    }
    const after = await victim.ask()
    const costMs = Math.max(0, after.cpuMs - before.cpuMs - askMs - idleMs * seconds) / sent
    await within(2000, () => mallory.closed !== undefined)
    const isOut = mallory.closed?.code === 'flooding'
    const isAliceOut = alice.closed !== undefined
    alice.close()
    mallory.close()
    return [
      {
        threat: 'S5',
        what: `${PACKETS_PER_SECOND} packets a second of 360 messages: CPU of the server for a packet`,
        count: sent,
        value: costMs,
        unit: 'ms',
        atMost: 0.5,
      },
      {
        threat: 'S5',
        what: 'the same: the sender is disconnected for flooding',
        count: sent,
        value: isOut ? 1 : 0,
        unit: '',
        atLeast: 1,
      },
      {
        threat: 'S5',
        what: 'the same: another member lost',
        count: sent,
        value: isAliceOut ? 1 : 0,
        unit: '',
        atMost: 0,
      },
    ]
  })
}

/**
 * The cost of a packet with 360 messages at 700 packets a second, compared with 60 a second. Without sockets, so only
 * the server's work counts.
 */
function costRatio(): AttackReport {
  const ratios: number[] = []
  let packets = 0
  for (let round = 0; round < ROUNDS; round++) {
    const [fast, calm] = [PACKETS_PER_SECOND, CALM_PACKETS_PER_SECOND].map((rate) => costAt(rate, round))
    packets += fast!.packets + calm!.packets
    // The first rounds warm the code up.
    if (round >= 2) ratios.push(fast!.costUs / calm!.costUs)
  }
  const value = ratios.sort((a, b) => a - b)[ratios.length >> 1] ?? NaN
  return {
    threat: 'S5',
    what: 'CPU for a packet of 360 messages, at 700 a second against 60',
    count: packets,
    value,
    unit: 'ratio',
    atMost: 1.5,
    figure: 'messages_cpu_ratio',
  }
}

interface Flying {
  readonly from: string
  readonly bytes: Uint8Array
}

/** CPU per accepted packet of members that flood until they are disconnected. */
function costAt(rate: number, round: number): { readonly costUs: number; readonly packets: number } {
  const provider = bestProvider()
  const server = createRoomHost(
    { match: { game: victimGame, capacity: 2 * MEMBERS_PER_ROUND } },
    { entropy: new Dice(1 + round), security: { provider } },
  )
  let now = 1000
  let [costUs, packets] = [0, 0]
  for (let member = 0; member < MEMBERS_PER_ROUND; member++) {
    const address = `10.0.0.${member + 1}:1`
    const host = createClientHost(victimGame, {
      entropy: new Dice(1000 * round + member + 7),
      security: { provider },
    }) as unknown as ClientHost<Shape>
    const answers: Flying[] = []
    const serve = (bytes?: Uint8Array): void => {
      if (bytes !== undefined) server.handleDatagram(now, address, bytes, bytes.length)
      server.tick(now)
      server.drain(now, {
        send: (to, out, length) => {
          if (to === address) answers.push({ from: 'server', bytes: out.slice(0, length) })
        },
      })
    }
    let attackerNow = now
    const exchange = (isMeasured: boolean): void => {
      const said: Uint8Array[] = []
      host.tick(attackerNow)
      host.drain(attackerNow, { send: (_to, bytes, length) => said.push(bytes.slice(0, length)) })
      for (const bytes of said) {
        const before = process.cpuUsage()
        serve(bytes)
        const { user, system } = process.cpuUsage(before)
        if (!isMeasured || bytes.length < 900) continue
        costUs += user + system
        packets++
      }
      for (const { from, bytes } of answers.splice(0)) host.handleDatagram(attackerNow, from, bytes, bytes.length)
    }
    host.connect(attackerNow, 'server')
    for (let step = 0; step < 100; step++, now += 5, attackerNow += 5) {
      serve()
      exchange(false)
    }
    for (
      let packet = 0;
      packet < PACKETS_PER_MEMBER && host.peer !== 0 && host.endpoint.connections[0]?.isOpen === true;
      packet++
    ) {
      now += 1000 / rate
      say(host)
      attackerNow += 20
      exchange(true)
    }
    if (packets === 0) throw new Error('no member was let in')
  }
  return { costUs: costUs / packets, packets }
}
