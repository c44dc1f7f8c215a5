import { connect as connectHttp2 } from 'node:http2'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { H3, Http3Session, varint, varintAt } from './webtransport-http3.ts'
import { decodeFields, encodeStatus } from './webtransport-qpack.ts'

const bytes = (...parts: (number | readonly number[] | Uint8Array)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...part])))

/** A QPACK string without Huffman coding, its length in `bits`. */
const text = (value: string, bits: number, flags: number): Uint8Array => {
  const mask = (1 << bits) - 1
  const letters = [...Buffer.from(value)]
  const head = letters.length < mask ? [flags | letters.length] : [flags | mask, letters.length - mask]
  return bytes(head, letters)
}

/** A field with literal name and value. */
const field = (name: string, value: string): Uint8Array => bytes(text(name, 3, 0x20), text(value, 7, 0))

const REQUEST: readonly (readonly [string, string])[] = [
  [':method', 'CONNECT'],
  [':protocol', 'webtransport'],
  [':scheme', 'https'],
  [':authority', 'localhost:4000'],
  [':path', '/tickwire'],
  ['origin', 'http://localhost:4000'],
]

const block = (fields = REQUEST): Uint8Array => bytes(0, 0, ...fields.map(([name, value]) => field(name, value)))
const frame = (type: number, content: Uint8Array): Uint8Array => bytes(varint(type), varint(content.length), content)
const SETTINGS = bytes(0, frame(4, bytes(varint(0x33), 1)))

function converse(rules: { path?: string; isAllowed?: boolean } = {}): {
  http: Http3Session; sent: { id: number; bytes: number[]; isLast: boolean }[]; aborts: number[]; events: string[]
} {
  const sent: { id: number; bytes: number[]; isLast: boolean }[] = []
  const aborts: number[] = []
  const events: string[] = []
  const http = new Http3Session(
    {
      sendStream: (id, content, isLast) => sent.push({ id, bytes: [...content], isLast }),
      abort: (code) => aborts.push(code),
    },
    {
      path: rules.path ?? '/tickwire',
      isAllowedOrigin: (origin, authority) => {
        events.push(`${origin} ${authority}`)
        return rules.isAllowed ?? true
      },
    },
    () => events.push('opened'),
    () => events.push('ended'),
  )
  return { http, sent, aborts, events }
}

describe('QPACK', () => {
  test('[WT1] fields by index, by name and as literals are read, others skipped; the first of a name counts', () => {
    const fields = decodeFields(
      bytes(
        0,
        0,
        0xc0 | 15,
        0xc0 | 23,
        0x50 | 0,
        text('host:1', 7, 0),
        0x50 | 1,
        text('/a', 7, 0),
        0xff,
        90 - 63 + 5,
        field('x', 'y'),
        field('x', 'z'),
      ),
    )
    expect(fields && Object.fromEntries(fields)).toMatchObject({
      ':method': 'CONNECT',
      ':scheme': 'https',
      ':authority': 'host:1',
      ':path': '/a',
      x: 'y',
    })
  })

  test.each([
    ['nothing at all', []],
    ['a dynamic table', [1, 0]],
    ['an entry of it', [0, 0, 0x80]],
    ['a name of it', [0, 0, 0x40, 0]],
    ['one after the base', [0, 0, 0x10]],
    ['a length beyond the end', [0, 0, 0x21]],
    ['a number without end', [0, 0, 0xff, 0xff, 0xff, 0xff, 0xff]],
    ['a code that stands for nothing', [0, 0, 0x50, 0x84, 0xff, 0xff, 0xff, 0xff]],
    ['padding of a whole byte', [0, 0, 0x50, 0x82, 0x1f, 0xff]],
  ])('[WT1] %s is refused', (_name, content) => {
    expect(decodeFields(Uint8Array.from(content))).toBeUndefined()
  })

  test('[WT1] no bytes make it throw', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (content) => {
      decodeFields(content)
      decodeFields(bytes(0, 0, content))
    }), { seed: 1, numRuns: 3000 })
  })

  test('[WT1] Huffman code is read as nghttp2 writes it, every character of it', async () => {
    const letters = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).filter(
      (letter) => letter !== '\\',
    )
    const value = [...letters, ...letters, 'https://play.example.org:8443/tickwire?room=12'].join('').trim()
    expect(await codedByHttp2(value)).toBe(value)
  })

  test('[WT2] a status has its index of the static table', () => {
    expect([...encodeStatus(200)]).toEqual([0, 0, 0xd9])
    expect([...encodeStatus(404)]).toEqual([0, 0, 0xc0 | 27])
    expect([...encodeStatus(403)]).toEqual([0, 0, 0xff, 5])
  })
})

/**
 * Decodes a header that Node's HTTP/2, an independent implementation, has coded: HPACK uses the same strings in another
 * frame.
 */
async function codedByHttp2(value: string): Promise<string | undefined> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const received = new Promise<Buffer>((resolve) => server.once('connection', (socket: Socket) => {
    let all = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      all = Buffer.concat([all, chunk])
      const headers = headersOf(all)
      if (headers !== undefined) resolve(headers)
    })
    // Empty settings, which the client waits for.
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))
  }))
  const client = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  client.on('error', () => {})
  client.request({ ':path': '/', 'x-p': value }).on('error', () => {})
  const raw = await received
  client.destroy()
  server.close()
  // The string is somewhere in there: every offset where a coded string may start is tried.
  for (let at = 0; at < raw.length; at++) {
    if ((raw[at]! & 0x80) === 0) continue
    const fields = decodeFields(bytes(0, 0, 0x51, raw.subarray(at, at + lengthOf(raw, at))))
    if (fields?.get(':path') === value) return value
  }
  return undefined
}

/** The first HEADERS frame after the HTTP/2 preface, once it is complete. */
function headersOf(all: Buffer): Buffer | undefined {
  for (let at = 24; at + 9 <= all.length;) {
    const end = at + 9 + all.readUIntBE(at, 3)
    if (all[at + 3] === 1) return end <= all.length ? all.subarray(at + 9, end) : undefined
    at = end
  }
  return undefined
}

function lengthOf(raw: Buffer, at: number): number {
  const first = raw[at]! & 0x7f
  if (first < 0x7f) return 1 + first
  const low = raw[at + 1]!
  return low < 0x80 ? 2 + 0x7f + low : 3 + 0x7f + (low & 0x7f) + (raw[at + 2] ?? 0) * 128
}

describe('HTTP/3', () => {
  test('[WT2] variable-length integers of QUIC are read and written, in every length', () => {
    for (const value of [0, 63, 64, 16_383, 16_384, 0x3fff_ffff, 0x4000_0000, 0xc671_706a]) {
      const written = varint(value)
      expect(varintAt(written, 0)).toEqual({ value, end: written.length })
      if (written.length > 1) expect(varintAt(written.subarray(0, -1), 0)).toBeUndefined()
    }
  })

  test('[WT2] the server sends its settings on three streams, with datagrams, CONNECT and WebTransport', () => {
    const { http, sent } = converse()
    http.start()
    expect(sent.map(({ id }) => id)).toEqual([3, 7, 11])
    expect(sent[0]!.bytes.slice(0, 2)).toEqual([0, 4])
  })

  test.each([1, 2, 7, 1000])('[WT2] a request in pieces of %d bytes is answered once it is complete', (size) => {
    const { http, sent, events } = converse()
    feed(http, 2, SETTINGS, size)
    feed(http, 0, frame(1, block()), size)
    expect(sent).toEqual([{ id: 0, bytes: [1, 3, 0, 0, 0xd9], isLast: false }])
    expect(events).toEqual(['http://localhost:4000 localhost:4000', 'opened'])
    expect(http.streamId).toBe(0)
  })

  test('[WT2] a request that arrives before the settings waits for them', () => {
    const { http, events } = converse()
    http.handleStream(4, frame(1, block()), false)
    expect(events).toEqual([])
    http.handleStream(2, SETTINGS, false)
    expect(events).toContain('opened')
    expect(http.streamId).toBe(4)
  })

  test('[WT2] unknown frames are skipped', () => {
    const { http, events } = converse()
    http.handleStream(2, SETTINGS, false)
    http.handleStream(0, bytes(frame(0x21, bytes(1, 2, 3)), frame(0x21 + 0x1f * 7, bytes()), frame(1, block())), false)
    expect(events).toContain('opened')
  })

  test('[WT2] another path is 404, another method or protocol 400, another origin 403, a second session 503', () => {
    const ask = (http: Http3Session, id: number, changed: Record<string, string>): void =>
      http.handleStream(id, frame(1, block(REQUEST.map(([name, value]) => [name, changed[name] ?? value]))), false)
    const { http, sent, events } = converse()
    http.handleStream(2, SETTINGS, false)
    ask(http, 0, { ':path': '/other' })
    ask(http, 4, { ':method': 'GET' })
    ask(http, 8, { ':protocol': 'websocket' })
    ask(http, 12, { ':path': '/tickwire?x=1' })
    ask(http, 16, {})
    const stranger = converse({ isAllowed: false })
    stranger.http.handleStream(2, SETTINGS, false)
    ask(stranger.http, 0, {})
    const statuses = [...sent, ...stranger.sent].map(({ bytes: [, , ...content], isLast }) => [content.join(), isLast])
    const status = (code: 200 | 404 | 400 | 403 | 503): string => encodeStatus(code).join()
    expect(statuses).toEqual([
      [status(404), true],
      [status(400), true],
      [status(400), true],
      [status(200), false],
      [status(503), true],
      [status(403), true],
    ])
    expect(events.filter((event) => event === 'opened')).toHaveLength(1)
  })

  test('[WT2] a peer without datagrams is refused', () => {
    const { http, aborts } = converse()
    http.handleStream(2, bytes(0, frame(4, bytes(varint(0x33), 0))), false)
    expect(aborts).toEqual([H3.settingsError])
  })

  test('[WT2] the session ends with its stream, and other streams do not matter', () => {
    const { http, events } = converse()
    http.handleStream(2, SETTINGS, false)
    http.handleStream(0, frame(1, block()), false)
    http.handleStream(6, bytes(0x54, 1, 2, 3), true)
    http.handleStream(0, bytes(0, 4, 1, 2, 3, 4), false)
    expect(events).not.toContain('ended')
    http.handleStream(0, bytes(), true)
    expect(events.at(-1)).toBe('ended')
  })

  test('[WT3] a header block beyond 4 KiB, and a seventeenth stream, end the connection', () => {
    const long = converse()
    long.http.handleStream(2, SETTINGS, false)
    long.http.handleStream(0, bytes(1, varint(5000), 1, 2, 3), false)
    expect(long.aborts).toEqual([H3.excessiveLoad])
    const many = converse()
    for (let id = 2; id <= 2 + 4 * 16; id += 4) many.http.handleStream(id, bytes(0x40), false)
    expect(many.aborts).toEqual([H3.excessiveLoad])
  })

  test('[WT3] no bytes on any stream make it throw', () => {
    const chunk = fc.record({
      id: fc.constantFrom(0, 2, 4, 6, 8),
      content: fc.uint8Array({ maxLength: 60 }),
      isLast: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 20 }), (chunks) => {
        const { http } = converse()
        for (const { id, content, isLast } of chunks) http.handleStream(id, content, isLast)
      }),
      { seed: 2, numRuns: 1000 },
    )
  })
})

function feed(http: Http3Session, id: number, content: Uint8Array, size: number): void {
  for (let at = 0; at < content.length; at += size) http.handleStream(id, content.subarray(at, at + size), false)
}
