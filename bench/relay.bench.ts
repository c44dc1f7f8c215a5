/**
 * A packet relay beside coturn: CPU time for each datagram that goes from one relayed peer to another, memory for each
 * allocation, and STUN.
 *
 * Both servers are processes of their own on loopback, and get the same load from this process: pairs of peers that
 * send 120 bytes, with a few datagrams in flight. Their CPU time is read from the kernel (schedstat, all threads), and
 * ratios are medians of the ratios within a round. In coturn such a datagram passes twice, because each peer has a
 * socket of the server; in ours it goes from one entry of a table to another.
 */

import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { createSocket } from 'node:dgram'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { PacketRelay, RelayClient, issueRelayToken, turnCredentials } from 'tickwire/nat'
import { createTransmit } from '../packages/tickwire/src/core/connection/transmit.ts'
import { bestProvider } from '../packages/tickwire/src/node/crypto.ts'
import { systemEntropy } from '../packages/tickwire/src/node/entropy.ts'
import { type Bench, type BenchResult, type Figure, collect, median } from './harness.ts'
import { PAYLOAD_BYTES, type Sender, openNativePair, openTurnPair } from './relay/pairs.ts'
import type { RelayReport } from './relay/server-process.ts'

const PAIRS = 4
const IN_FLIGHT = 4
const ALLOCATIONS = 4096
const provider = bestProvider()
const issuer = provider.importSigning(new Uint8Array(32).fill(5))
let tokens = 0

export const bench: Bench = {
  name: 'relay',
  summary: 'a packet relay beside coturn: CPU for each datagram, memory for each allocation, STUN',
  options: ['--datagrams N    in one turn (default 8000)', '--rounds N       timed rounds (default 9)'],
  run: async (args) => {
    const text = (value: string) => ({ type: 'string', default: value }) as const
    const options = { datagrams: text('8000'), rounds: text('9') }
    const { values } = parseArgs({ args: [...args], options })
    return await run(Number(values.datagrams), Number(values.rounds))
  },
}

/** One way of forwarding, and the process whose time counts. */
interface Rival {
  readonly name: string
  readonly pid: number
  readonly port: number
  readonly senders: readonly Sender[]
}

async function run(datagrams: number, rounds: number): Promise<BenchResult> {
  const bytes = allocationBytes()
  const server = fork(fileURLToPath(new URL('relay/server-process.ts', import.meta.url)), [
    Buffer.from(issuer.publicKey).toString('hex'),
  ])
  const before = await next(server)
  const coturn = spawnSync('turnserver', ['--version']).error === undefined ? await startCoturn() : undefined
  try {
    const rivals = await openRivals(before.address, server.pid!, coturn)
    const cpu = await timeRivals(rivals, datagrams, rounds)
    const after = await ask(server)
    const stunUs = await timeStun(before.address, server.pid!)
    for (const { senders } of rivals) for (const { socket } of senders) socket.close()
    const perAllocation = (after.descriptors - before.descriptors) / Math.max(1, after.allocations)
    return report(rivals, cpu, { stunUs, bytes, perAllocation, datagrams, rounds })
  } finally {
    server.kill('SIGKILL')
    coturn?.child.kill('SIGKILL')
  }
}

async function openRivals(relay: string, pid: number, coturn: Coturn | undefined): Promise<Rival[]> {
  const pairs = async (open: (session: number) => Promise<readonly Sender[]>): Promise<Sender[]> => {
    const all: Sender[] = []
    for (let index = 0; index < PAIRS; index++) all.push(...await open(++tokens % 250))
    return all
  }
  const port = Number(relay.split(':').at(-1))
  const rivals: Rival[] = [
    {
      name: 'native peers', pid, port,
      senders: await pairs((session) => openNativePair(relay, [token(session), token(session)])),
    },
    {
      name: 'TURN clients', pid, port,
      senders: await pairs((session) =>
        openTurnPair(relay, [turnCredentials(token(session)), turnCredentials(token(session))])),
    },
  ]
  if (coturn === undefined) return rivals
  const user = { username: 'bench', credential: 'bench' }
  const senders = await pairs(() => openTurnPair(coturn.address, [user, user]))
  const coturnPort = Number(coturn.address.split(':').at(-1))
  return [...rivals, { name: coturn.name, pid: coturn.child.pid!, port: coturnPort, senders }]
}

/** CPU microseconds for each delivered datagram. Indexed by rival, then by round. */
async function timeRivals(rivals: readonly Rival[], datagrams: number, rounds: number): Promise<number[][]> {
  const found = rivals.map(() => [] as number[])
  const warmups = 2
  for (let round = 0; round < rounds + warmups; round++) {
    for (let turn = 0; turn < rivals.length; turn++) {
      const index = (round + turn) % rivals.length
      const rival = rivals[index]!
      const startedAt = cpuUsOf(rival.pid)
      const delivered = await send(rival, datagrams)
      if (round >= warmups) found[index]!.push((cpuUsOf(rival.pid) - startedAt) / delivered)
    }
  }
  return found
}

/** Sends until so many have arrived. Each that arrives lets its receiver send one. Returns how many arrived. */
async function send({ senders, port }: Rival, count: number): Promise<number> {
  let [arrived, movedAt] = [0, performance.now()]
  const fire = ({ socket, datagram }: Sender): void => socket.send(datagram, port, '127.0.0.1')
  for (const sender of senders) {
    sender.socket.removeAllListeners('message')
    sender.socket.on('message', () => {
      movedAt = performance.now()
      if (++arrived < count) fire(sender)
    })
    for (let flying = 0; flying < IN_FLIGHT; flying++) fire(sender)
  }
  while (arrived < count) {
    await new Promise((resolve) => setTimeout(resolve, 2))
    if (performance.now() - movedAt > 5000) throw new Error(`${arrived} of ${count} arrived`)
  }
  // What is still in flight belongs to this turn.
  await new Promise((resolve) => setTimeout(resolve, 20))
  return arrived
}

/** CPU time of all threads of a process, in microseconds. */
function cpuUsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => {
    const [ns = '0'] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')
    return sum + Number(ns) / 1000
  }, 0)
}

/** CPU microseconds of the relay for each STUN answer, below its limit of 5,000 a second. */
async function timeStun(relay: string, pid: number): Promise<number> {
  const socket = createSocket('udp4')
  const port = Number(relay.split(':').at(-1))
  const question = Buffer.from('000100002112a442000102030405060708090a0b', 'hex')
  let answers = 0
  socket.on('message', () => answers++)
  const startedAt = cpuUsOf(pid)
  for (let batch = 0; batch < 100; batch++) {
    for (let index = 0; index < 40; index++) socket.send(question, port, '127.0.0.1')
    await new Promise((resolve) => setTimeout(resolve, 12))
  }
  await new Promise((resolve) => setTimeout(resolve, 100))
  const used = cpuUsOf(pid) - startedAt
  socket.close()
  if (answers < 3000) throw new Error(`only ${answers} STUN answers`)
  return used / answers
}

/**
 * Heap and array buffers for each allocation of a full relay, whose pairs have bound each other. The columns are
 * there before the first allocation, so they are counted when the relay is made.
 */
function allocationBytes(): number {
  const measure = (): { heapUsed: number; arrayBuffers: number } => {
    collect()
    collect()
    return process.memoryUsage()
  }
  const create = (allocationsMax: number): PacketRelay => new PacketRelay({
    provider, entropy: systemEntropy, issuers: [issuer.publicKey], relayed: '203.0.113.1:7777', allocationsMax,
    wallSeconds: () => Math.floor(Date.now() / 1000), areLocalExempt: false,
  })
  // The code that runs the first time is compiled, which is not the memory of an allocation.
  const warm = create(1024)
  for (let pair = 0; pair < 512; pair++) fillPair(warm, pair)
  const start = measure()
  const small = create(1)
  const middle = measure()
  const full = create(ALLOCATIONS)
  const created = measure()
  for (let pair = 0; pair < ALLOCATIONS / 2; pair++) fillPair(full, pair)
  const filled = measure()
  if (full.allocations !== ALLOCATIONS || small.allocations !== 0 || warm.allocations !== 1024)
    throw new Error(`${full.allocations} allocations of ${ALLOCATIONS}`)
  const columns = created.arrayBuffers - middle.arrayBuffers - (middle.arrayBuffers - start.arrayBuffers)
  const heap = filled.heapUsed + filled.arrayBuffers - created.heapUsed - created.arrayBuffers
  return (columns + heap) / ALLOCATIONS
}

/** Two peers of their own origins, bound to each other. Only the relay remembers them when this returns. */
function fillPair(relay: PacketRelay, pair: number): void {
  const [out, reply] = [createTransmit(), createTransmit()]
  const session = new Uint8Array(16)
  new DataView(session.buffer).setUint32(0, pair)
  const now = 1000 + pair
  const peers = [0, 1].map((side) => {
    const number = 2 * pair + side
    const address = `10.${number >>> 8}.${number & 255}.7:${20_000 + (number % 30_000)}`
    const grant = { relay: 'relay', token: token(0, session) }
    return { address, client: new RelayClient({ provider, entropy: systemEntropy, ...grant }) }
  })
  const settle = (): void => {
    for (const { address, client } of peers) {
      while (client.pollTransmit(now, out)) {
        if (relay.handleDatagram(now, address, out.bytes, out.length, reply))
          client.handleDatagram(now, reply.bytes.slice(), reply.length)
      }
    }
  }
  settle()
  peers.forEach(({ client }, index) => client.bind(peers[1 - index]!.client.allocation, pair + 1, 1))
  settle()
}

function token(session: number, bytes: Uint8Array = new Uint8Array(16).fill(session)): Uint8Array {
  const id = new Uint8Array(16)
  new DataView(id.buffer).setUint32(0, ++tokens)
  const issuedAt = Math.floor(Date.now() / 1000)
  return issueRelayToken(provider, issuer, {
    session: bytes, id, issuedAt, expiresAt: issuedAt + 600, audience: 'relay',
  })
}

interface Coturn {
  readonly name: string
  readonly child: ChildProcess
  readonly address: string
}

async function startCoturn(): Promise<Coturn> {
  const version = String(spawnSync('turnserver', ['--version']).stdout).trim().split('\n').at(-1) ?? ''
  const port = await freePort()
  const child = spawn('turnserver', [
    '-n', '--no-cli', '--no-tls', '--no-dtls', '--no-stdout-log', '--log-file', '/dev/null', '--simple-log',
    '-L', '127.0.0.1', '-E', '127.0.0.1', '-p', String(port), '--allow-loopback-peers', '--relay-threads', '1',
    '--lt-cred-mech', '-u', 'bench:bench', '-r', 'bench', '--pidfile', '/dev/null',
  ], { stdio: 'ignore' })
  await new Promise((resolve) => setTimeout(resolve, 1500))
  return { name: `coturn ${version}`, child, address: `127.0.0.1:${port}` }
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const { port } = socket.address()
  socket.close()
  return port
}

function next(child: ChildProcess): Promise<RelayReport> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the relay ended with ${code}`)))
    child.once('message', (message) => resolve(message as RelayReport))
  })
}

function ask(child: ChildProcess): Promise<RelayReport> {
  const answer = next(child)
  child.send('report')
  return answer
}

interface Others {
  readonly stunUs: number
  readonly bytes: number
  readonly perAllocation: number
  readonly datagrams: number
  readonly rounds: number
}

function report(rivals: readonly Rival[], cpu: readonly number[][], others: Others): BenchResult {
  const middle = (values: readonly number[]): number => median(values.toSorted((a, b) => a - b))
  const coturn = cpu[2]
  const against = rivals[2]?.name ?? null
  const ratios: Figure[] = coturn === undefined ? [] : ['forward', 'turn'].map((name, index) => ({
    name: `${name}_cpu_ratio_coturn`, unit: 'ratio', against, atMost: 1.1,
    value: middle(cpu[index]!.map((us, round) => us / coturn[round]!)),
  }))
  const { datagrams, rounds } = others
  const title = `${datagrams} datagrams of ${PAYLOAD_BYTES} bytes in a turn, ${PAIRS} pairs, ${rounds} rounds`
  return {
    tables: [{
      title, columns: ['rival', 'CPU us/datagram', 'least', 'most'],
      rows: rivals.map(({ name }, index) =>
        [name, middle(cpu[index]!), Math.min(...cpu[index]!), Math.max(...cpu[index]!)]),
    }],
    figures: [
      ...ratios,
      { name: 'forward_cpu_us', value: middle(cpu[0]!), unit: 'us', against: null },
      { name: 'allocation_bytes', value: others.bytes, unit: 'B', against: null, atMost: 1024 },
      { name: 'allocation_descriptors', value: others.perAllocation, unit: '', against: null, atMost: 0 },
      { name: 'stun_per_s', value: 1e6 / others.stunUs, unit: '1/s', against: null },
    ],
  }
}
