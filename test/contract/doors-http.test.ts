/** What peers can make a server hold by HTTP, over real sockets and with the real deadlines. */

import { mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { afterAll, expect, test, vi } from 'vitest'
import * as doors from '../../packages/tickwire/src/core/base/limits.ts'
import { makeCertificate } from '../../packages/tickwire/src/node/certificate.ts'
import { closeAll, closes, start, until, visit } from './doors-stage.ts'

vi.setConfig({ testTimeout: 120_000 })

const folder = mkdtempSync(join(tmpdir(), 'tickwire-doors-'))
writeFileSync(join(folder, 'large.bin'), new Uint8Array(8 * 2 ** 20))
writeFileSync(join(folder, 'page.js'), 'play()')
closes.push(() => rmSync(folder, { recursive: true }))
afterAll(closeAll)

/** Descriptors of this process that are files of the folder. */
function openFiles(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder)
    } catch {
      return false
    }
  }).length
}

test.concurrent('[DOOR4] S10: a head or a body that never ends is cut off', async () => {
  const { port } = await start({ webrtc: {} })
  const silent = visit(port, '127.2.0.1')
  const head = visit(port, '127.2.0.2').write('GET / HTTP/1.1\r\nHost: x\r\n')
  const body = visit(port, '127.2.0.3').write('POST /tickwire/rtc HTTP/1.1\r\nHost: x\r\nContent-Length: 16000\r\n\r\n')
  // A body that nothing reads is also cut off.
  const ignored = visit(port, '127.2.0.4').write(
    'GET /tickwire/info HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
  )
  const timer = setInterval(() => {
    head.write('x: y\r\n')
    body.write('x')
    ignored.write('1\r\nx\r\n')
  }, 300)
  closes.push(() => clearInterval(timer))
  expect(await until(() => head.isClosed && silent.isClosed, doors.HTTP_HEAD_MS + doors.HTTP_CHECK_MS + 4000)).toBe(
    true,
  )
  expect(await until(() => body.isClosed && ignored.isClosed, doors.HTTP_REQUEST_MS + doors.HTTP_CHECK_MS + 4000)).toBe(
    true,
  )
})

test.concurrent('[DOOR4] S6: one address has 64 TCP sockets, and another still gets in', async () => {
  const { port } = await start()
  const clients = Array.from({ length: 100 }, () => visit(port, '127.2.1.1'))
  await until(() => clients.filter(({ isClosed }) => isClosed).length >= 36)
  expect(clients.filter(({ isClosed }) => !isClosed)).toHaveLength(doors.TCP_SOCKETS_PER_ORIGIN)
  const other = visit(port, '127.2.1.2').write('GET /tickwire/info HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => other.status !== 0)
  expect(other.status).toBe(200)
  for (const { socket } of clients) socket.destroy()
  await sleep(200)
  const next = visit(port, '127.2.1.1').write('GET /tickwire/info HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => next.status !== 0)
  expect(next.status).toBe(200)
})

test.concurrent('[DOOR4] S6: sockets that were closed are not counted, with and without TLS', async () => {
  const { port } = await start({ tls: makeCertificate(Date.now()) })
  for (let count = 0; count < doors.TCP_SOCKETS_PER_ORIGIN + 10; count++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const plain = connect({ port, host: '127.0.0.1', localAddress: '127.2.3.1' })
      const socket = connectTls({ socket: plain, rejectUnauthorized: false }, () => {
        socket.end()
        resolve(true)
      })
      socket.on('error', () => resolve(false))
      socket.on('close', () => resolve(false))
    })
    expect(isOpen, `socket ${count}`).toBe(true)
  }
})

test.concurrent('[DOOR4] S2: requests that do not wait for answers end their socket', async () => {
  const { port } = await start({ static: folder })
  const client = visit(port, '127.2.2.1').write('GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000))
  expect(await until(() => client.isClosed, 5000)).toBe(true)
})

test('[DOOR5] S2: an aborted download closes its file', async () => {
  const { port } = await start({ static: folder, limits: {} })
  for (let round = 0; round < 10; round++) {
    const clients = Array.from({ length: 30 }, () =>
      visit(port, '127.3.0.1').write('GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n'),
    )
    // Some leave before the first byte, others after it.
    if (round % 2 === 0) await until(() => clients.every(({ text }) => text !== ''))
    for (const { socket } of clients) socket.resetAndDestroy()
  }
  expect(await until(() => openFiles() === 0, 5000)).toBe(true)
})

test('[DOOR5] S2: answers that wait behind another of their socket close their files too', async () => {
  const { port } = await start({ static: folder })
  const request = 'GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n'
  for (const count of [doors.HTTP_REQUESTS_PER_SOCKET, 1000]) {
    const client = visit(port, '127.3.2.1').write(request.repeat(count))
    client.socket.pause()
    await until(() => openFiles() > 0, 2000)
    client.socket.resetAndDestroy()
    expect(await until(() => openFiles() === 0, 5000), `${count} requests`).toBe(true)
  }
})

test('[DOOR5] S2: a reader that takes nothing is closed, a slow one is not; 32 downloads per address', async () => {
  const { port } = await start({ static: folder })
  const request = 'GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n'
  const stuck = Array.from({ length: 40 }, () => {
    const client = visit(port, '127.3.1.1')
    client.socket.pause()
    return client.write(request)
  })
  await until(() => openFiles() >= doors.DOWNLOADS_PER_ORIGIN)
  await sleep(300)
  expect(openFiles()).toBe(doors.DOWNLOADS_PER_ORIGIN)
  const refused = visit(port, '127.3.1.1').write(request)
  await until(() => refused.status !== 0)
  expect(refused.status).toBe(503)
  const slow = visit(port, '127.3.1.2').write(request)
  let read = 0
  slow.socket.removeAllListeners('data')
  slow.socket.on('data', (bytes) => {
    read += bytes.length
    slow.socket.pause()
    setTimeout(() => slow.socket.resume(), bytes.length / 300)
  })
  expect(await until(() => openFiles() <= 1, doors.HTTP_STALL_MS + 5000)).toBe(true)
  for (const { socket } of stuck) socket.resume()
  expect(await until(() => stuck.every(({ isClosed }) => isClosed), 5000)).toBe(true)
  expect(slow.isClosed).toBe(false)
  expect(await until(() => read > 8 * 2 ** 20, 60_000)).toBe(true)
})

test('[DOOR6] S10: a link that leads out of the folder is not served, one inside it is', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'tickwire-outside-'))
  closes.push(() => rmSync(outside, { recursive: true }))
  writeFileSync(join(outside, 'secret.txt'), 'secret')
  writeFileSync(join(folder, '.env'), 'secret')
  symlinkSync(join(outside, 'secret.txt'), join(folder, 'file.txt'))
  symlinkSync(join(outside, 'secret.txt'), join(folder, 'page.js.gz'))
  symlinkSync(outside, join(folder, 'out'))
  symlinkSync('.env', join(folder, 'env.txt'))
  symlinkSync('page.js', join(folder, 'same.js'))
  const { serving } = await start({ static: folder, limits: {} })
  for (const path of ['file.txt', 'out/secret.txt', 'env.txt'])
    expect((await fetch(`${serving.url}/${path}`)).status, path).toBe(404)
  expect(await (await fetch(`${serving.url}/same.js`)).text()).toBe('play()')
  expect(await (await fetch(`${serving.url}/page.js`)).text()).toBe('play()')
})
