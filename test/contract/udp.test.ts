import { spawnSync } from 'node:child_process'
import { type Socket, createSocket } from 'node:dgram'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { type UdpOptions, type UdpPort, openUdp, resolveUdp } from '../../packages/tickwire/src/node/udp.ts'
import { ROOT } from '../../tools/typecheck.ts'
import { describeTransport } from './transport.contract.ts'

async function until(isDone: () => boolean): Promise<void> {
  for (let waited = 0; !isDone() && waited < 5000; waited += 2) await sleep(2)
}

const ports: UdpPort[] = []

async function open(options: UdpOptions = {}): Promise<UdpPort> {
  const port = await openUdp(options)
  ports.push(port)
  return port
}

const portOf = (port: UdpPort): number => Number(port.localAddress.slice(port.localAddress.lastIndexOf(':') + 1))

afterEach(async () => {
  for (const port of ports) port.close()
  await Promise.all(ports.splice(0).map(({ closed }) => closed))
})

for (const [name, serverAddress, reached, clientAddress] of [
  ['IPv4', '127.0.0.1', '127.0.0.1', '127.0.0.1'],
  ['IPv6', '::1', '[::1]', '::1'],
  ['both families, an IPv4 client', '::', '127.0.0.1', '127.0.0.1'],
  ['both families, an IPv6 client', '::', '[::1]', '::1'],
  ['both families at both ends', '::', '127.0.0.1', '::'],
] as const) {
  describeTransport(
    `[PORT1, PORT2, PORT3, PORT4] UDP: ${name}`,
    async () => {
      const server = await open({ address: serverAddress })
      return {
        server,
        openClient: async () => ({
          port: await open({ address: clientAddress }),
          serverAddress: `${reached}:${portOf(server)}`,
        }),
        until,
        close: async () => server.close(),
      }
    },
    false,
  )
}

interface Received {
  readonly from: string
  readonly bytes: readonly number[]
}

function receive(port: UdpPort): Received[] {
  const received: Received[] = []
  port.onDatagram = (from, bytes, length) => received.push({ from, bytes: [...bytes.subarray(0, length)] })
  return received
}

describe('UDP: addresses', () => {
  test('[UDP1] a peer has one address string; an IPv4 peer of a dual socket has an IPv4 one', async () => {
    const server = await open()
    expect(server.localAddress).toBe(`[::]:${portOf(server)}`)
    const received = receive(server)
    const four = await open({ address: '127.0.0.1' })
    const six = await open({ address: '::1' })
    for (let round = 0; round < 2; round++) {
      four.send(`127.0.0.1:${portOf(server)}`, Uint8Array.of(4), 1)
      six.send(`[::1]:${portOf(server)}`, Uint8Array.of(6), 1)
    }
    await until(() => received.length === 4)
    const from = (byte: number): string[] =>
      received.filter(({ bytes }) => bytes[0] === byte).map((datagram) => datagram.from)
    expect(from(4)).toEqual([four.localAddress, four.localAddress])
    expect(from(6)).toEqual([six.localAddress, six.localAddress])
  })

  test.each([
    'no-address',
    '',
    ':',
    '127.0.0.1',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    '127.0.0.1:x',
    '127.0.0.01:5',
    'localhost:5',
    '127.1:5',
    '[127.0.0.1]:5',
    '[::FFFF:127.0.0.1]:5',
    '[::ffff:127.0.0.1]:5',
    '[0:0:0:0:0:0:0:1]:5',
    '[::0001]:5',
    '::1:5',
    '[::1]',
    '[::1:5',
    '__proto__',
  ])('[UDP2] %j is not a canonical address: nothing is sent, and it is counted', async (to) => {
    const port = await open()
    port.send(to, new Uint8Array(3), 3)
    expect([port.stats.unreachable, port.stats.sent]).toEqual([1, 0])
  })

  test('[UDP2] a socket of one family reaches no address of the other', async () => {
    for (const [address, to] of [['127.0.0.1', '[::1]:9'], ['::1', '127.0.0.1:9']] as const) {
      const port = await open({ address })
      port.send(to, new Uint8Array(3), 3)
      expect([port.stats.unreachable, port.stats.sent]).toEqual([1, 0])
    }
  })

  test('[UDP3] names and numbers in any spelling resolve to the address that datagrams come from', async () => {
    expect(await resolveUdp('127.0.0.1', 4000)).toBe('127.0.0.1:4000')
    expect(await resolveUdp('0:0:0:0:0:0:0:1', 4000)).toBe('[::1]:4000')
    expect(await resolveUdp('::FFFF:1.2.3.4', 1)).toBe('1.2.3.4:1')
    expect(await resolveUdp('2001:DB8:0:0:1:0:0:1', 65_535)).toBe('[2001:db8::1:0:0:1]:65535')
    expect(['127.0.0.1:7', '[::1]:7']).toContain(await resolveUdp('localhost', 7))
    expect(await resolveUdp('localhost', 7, 4)).toBe('127.0.0.1:7')
    await expect(resolveUdp('no-such-host.invalid', 7)).rejects.toThrow()
    await expect(resolveUdp('127.0.0.1', 0)).rejects.toThrow('port: invalid port (expected 1 to 65535, got 0)')
  })
})

describe('UDP: the socket', () => {
  let raw: Socket | undefined
  afterEach(() => {
    raw?.close()
    raw = undefined
  })

  async function openRaw(): Promise<Socket> {
    const socket = createSocket('udp4')
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    raw = socket
    return socket
  }

  test('[UDP4] system errors are counted by code, and nothing throws', async () => {
    const port = await open({ address: '127.0.0.1' })
    // Broadcasting needs a permission that the socket never asks for.
    for (let count = 0; count < 3; count++) {
      port.send('255.255.255.255:9', new Uint8Array(3), 3)
      await sleep(1)
    }
    await until(() => port.stats.errors === 3)
    expect(port.stats.errors).toBe(3)
    expect([...port.errorCodes.values()]).toEqual([3])
    expect([...port.errorCodes.keys()][0]).toMatch(/^E[A-Z]+$/)
    const received = receive(port)
    port.send(port.localAddress, Uint8Array.of(7), 1)
    await until(() => received.length === 1)
    expect(received).toEqual([{ from: port.localAddress, bytes: [7] }])
  })

  test('[UDP4] a persistent error is detected, also after sends to that address without one', async () => {
    const port = await open({ address: '127.0.0.1' })
    for (let count = 0; count < 1000; count++) port.send('255.255.255.255:9', new Uint8Array(3), 3)
    await until(() => port.stats.errors >= 1000 / 64)
    expect(port.stats.errors).toBeGreaterThanOrEqual(Math.floor(1000 / 64))
  })

  test('[UDP4] the first send to an address is checked, also after sends to others without an error', async () => {
    const port = await open({ address: '127.0.0.1' })
    for (let count = 0; count < 10; count++) port.send('127.0.0.1:9', new Uint8Array(3), 3)
    port.send('255.255.255.255:9', new Uint8Array(3), 3)
    await until(() => port.stats.errors === 1)
    expect(port.stats.errors).toBe(1)
  })

  test('[UDP5] a datagram longer than any of ours is refused and counted, not cut', async () => {
    const port = await open({ address: '127.0.0.1' })
    const received = receive(port)
    const socket = await openRaw()
    for (const size of [1501, 60_000, 1500, 1]) socket.send(new Uint8Array(size).fill(3), portOf(port), '127.0.0.1')
    await until(() => received.length === 2 && port.stats.refused === 2)
    expect(received.map(({ bytes }) => bytes.length).sort()).toEqual([1, 1500])
    expect([port.stats.refused, port.stats.received]).toEqual([2, 2])
  })

  test('[UDP6] the buffers are as large as asked for, or the granted size is reported', async () => {
    const asked = await open({ bufferBytes: 131_072 })
    expect([asked.recvBufferBytes, asked.sendBufferBytes]).toEqual([131_072, 131_072])
    const { recvBufferBytes } = await open()
    expect(recvBufferBytes).toBeGreaterThan(0)
    expect(recvBufferBytes).toBeLessThanOrEqual(4 * 1024 * 1024)
  })

  test('[UDP7] closing frees the port and reports it; closing twice is closing once', async () => {
    const first = await open({ address: '127.0.0.1' })
    const number = portOf(first)
    await expect(openUdp({ address: '127.0.0.1', port: number })).rejects.toThrow(
      `port: ${number} is in use by another program`,
    )
    first.close()
    first.close()
    await first.closed
    const second = await open({ address: '127.0.0.1', port: number })
    expect(second.localAddress).toBe(first.localAddress)
  })

  test.each([
    [{ port: -1 }, 'port: invalid port (expected 0 to 65535, got -1)'],
    [{ port: 70_000 }, 'port: invalid port (expected 0 to 65535, got 70000)'],
    [{ port: 1.5 }, 'port: invalid port (expected 0 to 65535, got 1.5)'],
    [{ address: 'localhost' }, 'address: not a numeric address (got "localhost")'],
    [{ maxDatagramBytes: 500 }, 'maxDatagramBytes: invalid size (expected 1200 to 1500 bytes, got 500)'],
    [{ maxDatagramBytes: 9000 }, 'maxDatagramBytes: invalid size (expected 1200 to 1500 bytes, got 9000)'],
    [{ address: '203.0.113.1' }, 'address: 203.0.113.1 is not an address of this machine'],
  ] as const)('[UDP8] %j throws at once, with the path and the fix', async (options, problem) => {
    await expect(openUdp(options)).rejects.toThrow(problem)
  })

  test('[UDP9] any number of senders fits: a real one among them is answered', async () => {
    const port = await open({ address: '127.0.0.1' })
    let answered = 0
    port.onDatagram = (from, bytes, length) => port.send(from, bytes, length)
    const socket = await openRaw()
    socket.on('message', () => answered++)
    // One real peer among thousands of made-up ones, to all of which the server sends.
    for (let count = 0; count < 20_000; count++) {
      port.send(
        `127.${count & 127}.${(count >> 7) & 127}.${(count >> 14) + 1}:${50_000 + (count % 7)}`,
        new Uint8Array(1),
        1,
      )
      if (count % 1000 === 0) {
        socket.send(new Uint8Array(9), portOf(port), '127.0.0.1')
        await sleep(1)
      }
    }
    await until(() => answered === 20)
    expect(answered).toBe(20)
  })

  test('[UDP10] an open port keeps the process alive, unless it is unreferenced', () => {
    const run = (then: string): number | null =>
      spawnSync(
        process.execPath,
        [
          '--import',
          'tsx',
          '--input-type=module',
          '-e',
          "import { openUdp } from './packages/tickwire/src/node/udp.ts'; const port = await openUdp(); "
        + `setTimeout(() => process.exit(3), 100).unref(); ${then}`,
        ],
        { cwd: ROOT },
      ).status
    expect(run('port.unref()')).toBe(0)
    expect(run('port.unref(); port.ref()')).toBe(3)
    expect(run('port.close(); port.ref()')).toBe(0)
  })
})
