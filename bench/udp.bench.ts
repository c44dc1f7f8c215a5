/**
 * Our UDP port beside plain node:dgram: an echo over loopback, 200 bytes, with several datagrams in flight.
 *
 * Both ends of each echo are in this process, so its CPU time (`process.cpuUsage`, user and system) includes the whole
 * cost of a round trip: two sends and two receives, with the kernel's part. Rivals take turns. Ratios are medians of
 * the ratios within a round, because a busy machine slows a whole round.
 *
 * `plain` is the simplest program: `socket.send(bytes, port, host)`. Node then resolves the host for every datagram, in
 * a later turn of the event loop. `tuned` has a lookup that answers at once, which few programs have. It neither copies
 * nor counts nor parses addresses, and is the lower bound.
 */

import { type Socket, type SocketOptions, createSocket } from 'node:dgram'
import { parseArgs } from 'node:util'
import { openUdp } from '../packages/tickwire/src/node/udp.ts'
import { type Bench, type BenchResult, median } from './harness.ts'

const BYTES = 200
const IN_FLIGHT = 32
const BUFFER_BYTES = 4 * 1024 * 1024
const NODE = `node:dgram ${process.version}`

export const bench: Bench = {
  name: 'udp',
  summary: 'UDP echo over loopback: CPU of our port beside node:dgram',
  options: ['--echoes N     round trips in one turn (default 10000)', '--rounds N     timed rounds (default 12)'],
  run: async (args) => {
    const options = { echoes: { type: 'string', default: '10000' }, rounds: { type: 'string', default: '12' } } as const
    const { values } = parseArgs({ args: [...args], options })
    return run(Number(values.echoes), Number(values.rounds))
  },
}

interface Rival {
  readonly name: string
  /** Does `count` round trips. */
  echo(count: number): Promise<void>
  close(): void
}

async function run(echoes: number, rounds: number): Promise<BenchResult> {
  const rivals = [await rawRival('plain', false), await rawRival('tuned', true), await portRival()]
  const samples = rivals.map(() => [] as { cpuUs: number; wallUs: number }[])
  const warmups = 3
  for (let round = 0; round < rounds + warmups; round++) {
    for (let turn = 0; turn < rivals.length; turn++) {
      const index = (round + turn) % rivals.length
      const sample = await measure(rivals[index]!, echoes)
      if (round >= warmups) samples[index]!.push(sample)
    }
  }
  for (const rival of rivals) rival.close()
  const middle = (values: number[]): number => median(values.sort((a, b) => a - b))
  const cpu = (index: number): number => middle(samples[index]!.map(({ cpuUs }) => cpuUs))
  const cpuRatio = (against: number): number =>
    middle(samples[2]!.map(({ cpuUs }, round) => cpuUs / samples[against]![round]!.cpuUs))
  return {
    tables: [
      {
        title: `${echoes} echoes of ${BYTES} bytes in a turn, ${IN_FLIGHT} in flight, ${rounds} rounds`,
        columns: ['rival', 'CPU us/echo', 'least', 'wall us/echo'],
        rows: rivals.map(({ name }, index) => [
          name,
          cpu(index),
          Math.min(...samples[index]!.map(({ cpuUs }) => cpuUs)),
          middle(samples[index]!.map(({ wallUs }) => wallUs)),
        ]),
      },
    ],
    figures: [
      { name: 'udp_cpu_ratio_raw_echo', value: cpuRatio(0), unit: 'ratio', against: NODE, atMost: 1.05 },
      {
        name: 'udp_cpu_ratio_tuned_echo',
        value: cpuRatio(1),
        unit: 'ratio',
        against: `${NODE}, lookup replaced`,
        atMost: 1.15,
      },
      { name: 'udp_cpu_us_per_packet', value: cpu(2) / 2, unit: 'us', against: null },
      { name: 'udp_raw_cpu_us_per_packet', value: cpu(0) / 2, unit: 'us', against: null },
    ],
  }
}

async function measure(rival: Rival, echoes: number): Promise<{ cpuUs: number; wallUs: number }> {
  const startedAt = process.hrtime.bigint()
  const before = process.cpuUsage()
  await rival.echo(echoes)
  const { user, system } = process.cpuUsage(before)
  return { cpuUs: (user + system) / echoes, wallUs: Number(process.hrtime.bigint() - startedAt) / 1000 / echoes }
}

/**
 * Keeps some datagrams in flight until all have come back. A datagram lost on loopback would be a finding, and would
 * make this wait for ever, so it throws.
 */
function pingPong(send: () => void): { echo(count: number): Promise<void>; onBack(): void } {
  let [left, toSend] = [0, 0]
  let onDone = (): void => {}
  return {
    echo: (count) => new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${left} datagrams did not come back`)), 30_000)
      onDone = () => {
        clearTimeout(timer)
        resolve()
      }
      left = count
      toSend = count
      for (let flying = 0; flying < IN_FLIGHT && toSend > 0; flying++, toSend--) send()
    }),
    onBack: () => {
      if (toSend > 0) {
        toSend--
        send()
      }
      if (--left === 0) onDone()
    },
  }
}

async function rawRival(name: string, isTuned: boolean): Promise<Rival> {
  const [client, server] = [await bindRaw(isTuned), await bindRaw(isTuned)]
  const { port, address } = server.address()
  const bytes = new Uint8Array(BYTES).fill(7)
  const { echo, onBack } = pingPong(() => client.send(bytes, port, address))
  client.on('message', onBack)
  server.on('message', (message, source) => server.send(message, source.port, source.address))
  return {
    name, echo,
    close: () => {
      client.close()
      server.close()
    },
  }
}

const ANSWER_AT_ONCE: Pick<SocketOptions, 'lookup'> = { lookup: (host, _options, callback) => callback(null, host, 4) }

async function bindRaw(isTuned: boolean): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', ...(isTuned && ANSWER_AT_ONCE) })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  socket.setRecvBufferSize(BUFFER_BYTES)
  socket.setSendBufferSize(BUFFER_BYTES)
  return socket
}

async function portRival(): Promise<Rival> {
  const [client, server] = [await openUdp({ address: '127.0.0.1' }), await openUdp({ address: '127.0.0.1' })]
  const bytes = new Uint8Array(1500).fill(7)
  const { echo, onBack } = pingPong(() => client.send(server.localAddress, bytes, BYTES))
  client.onDatagram = onBack
  server.onDatagram = (from, message, length) => server.send(from, message, length)
  return {
    name: 'tickwire', echo,
    close: () => {
      client.close()
      server.close()
    },
  }
}
