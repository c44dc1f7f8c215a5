import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Rock, game, record, tickwire } from '../../../../test/reference/recorded-ships.ts'
import { entity } from '../core/schema/definition.ts'
import { bool, manual } from '../core/schema/field-kinds.ts'
import { defineGame } from '../core/game/define-game.ts'
import { createRecordingFile, openRecordingFile } from '../node/recording-file.ts'
import { fieldTexts, peerText } from './inspect-text.ts'
import { startTickwire } from './run.ts'

let folder = ''
const at = (name: string): string => join(folder, name)

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwire-'))
  record(game, at('match.twr'), 90)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('tickwire inspect', () => {
  test('[REC13] lists game, length, end, peers, sizes and objects', () => {
    const { code, out, err } = tickwire('inspect', at('match.twr'))
    expect([code, err]).toEqual([0, ''])
    for (const words of [
      'closed',
      'started     2027-01-15T08:00:00Z',
      '30 ticks a second, fields: everything, codec: packed',
      'ticks       1 to 90, 3.0 s',
      'peers       player 1, player 2',
      'B a tick',
      'Ship: 2 objects, 2 at once',
      /place +vec2, -500 to 500 in steps of 0.001\n/,
      'Rock: 1 objects',
      '1 x received',
      'mark round 1',
      'joined player 1',
    ])
      expect(out).toMatch(words)
    expect(out).not.toContain('tick 1 ')
    expect(tickwire('inspect', at('match.twr'), '--chunks').out).toMatch(/rows +tick 1 +\d+ bytes, key/)
  })

  test('[REC13] as JSON: the same, and one tick', () => {
    const summary = JSON.parse(tickwire('inspect', at('match.twr'), '--json', '--chunks').out)
    expect(summary).toMatchObject({
      end: 'closed',
      firstTick: 1,
      lastTick: 90,
      missingTicks: 0,
      packets: { sent: 90, received: 0, bytes: 2700 },
      notes: { joined: 1, mark: 1, received: 1 },
    })
    expect(summary.sizeBytes).toBe(statSync(at('match.twr')).size)
    expect(summary.chunks.length).toBeGreaterThan(6)
    const { code, out } = tickwire('inspect', at('match.twr'), '--tick', '50', '--json')
    expect([code, JSON.parse(out)]).toEqual([
      0,
      {
        tick: 50,
        objects: [
          {
            entity: 'Ship',
            id: 1,
            owner: 1,
            place: { x: expect.closeTo(18.5, 2), y: 0 },
            heading: expect.closeTo(1.5, 2),
            speed: expect.closeTo(1.1, 3),
            ammo: 895,
            name: 's1',
            shield: null,
            coins: '7',
            seal: '01ff',
            plan: 0,
          },
          expect.objectContaining({ id: 65_537, owner: 2 }),
          { entity: 'Rock', id: 131_073, owner: 0, size: 9 },
        ],
      },
    ])
    const lines = tickwire('inspect', at('match.twr'), '--tick', '50').out.split('\n')
    expect(lines).toHaveLength(4)
    expect(lines[0]).toBe(
      'Ship 0 of player 1: place (18.5, 0), heading 1.496, speed 1.1, ammo 895, name "s1", shield –, coins 7, '
        + 'seal 01ff, plan 0',
    )
    expect(peerText(0x8000_0002)).toBe('bot 2')
    const text = '{at:vec3(-32,32,0.0019|-32,32,0.0019|0,9,1)@owner~position;a:oneOf("x;{y","z");n:int(0,9)=4;l:[u8,3]}'
    expect(fieldTexts(text)).toEqual([
      ['at', 'vec3, -32 to 32 in steps of 0.0019 and 0 to 9 in steps of 1, for owner, position'],
      ['a', 'oneOf("x;{y","z")'],
      ['n', 'int, 0 to 9, initially 4'],
      ['l', '[u8,3]'],
    ])
  })

  test('[REC13] a truncated file and a missing tick are reported, with exit code 1', () => {
    writeFileSync(at('torn.twr'), readFileSync(at('match.twr')))
    truncateSync(at('torn.twr'), statSync(at('match.twr')).size - 100)
    expect(tickwire('inspect', at('torn.twr'))).toMatchObject({
      code: 1,
      out: expect.stringMatching(/torn: its last \d+ bytes/),
    })
    expect(tickwire('inspect', at('match.twr'), '--tick', '91')).toMatchObject({
      code: 1,
      err: 'tick 91 is not in this recording: it has 1 to 90.\n',
    })
  })

  test.each([
    [['inspect'], 'Give one file'],
    [['inspect', 'a', 'b'], 'Give one file'],
    [['inspect', '/nowhere/at/all'], 'cannot be read (ENOENT)'],
    [['inspect', 'package.json'], 'is not a recording'],
    [['inspect', 'package.json', '--tick', 'soon'], '--tick soon: expected an integer'],
    [['bandwidth', 'package.json'], 'is not a recording'],
    [['bandwidth', 'x', '--for', 'kings'], 'use all, team, owner'],
    [['inspect', 'packages'], 'packages cannot be read (EISDIR). It is a folder: give a file.'],
    [['inspect', 'package.json', '--tick='], '--tick : expected an integer'],
    [['inspect', 'package.json', '--tick=-1'], '--tick -1: expected an integer from 0 on.'],
    [['inspect', 'package.json', '--port', '80'], '--port is only for the page. Fix: add --page.'],
    [['--bogus'], 'unknown command "--bogus"'],
  ])('[REC13] %j is refused, with the reason', (args, words) => {
    expect(tickwire(...args)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(words) })
  })

  test('[REC13] a page that cannot be served is refused in one sentence', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => { taken.listen(0, '127.0.0.1', resolve) })
    const { port } = taken.address() as AddressInfo
    for (const [args, words] of [
      [['--port', '65536'], '--port 65536: expected an integer from 0 to 65535.'],
      [['--port', `${port}`], `--port ${port} cannot be listened on (EADDRINUSE). Fix: give another`],
      [['--json'], '--json cannot be used with --page'],
      [['--server', 'package.json'], 'package.json is not a recording'],
    ] as const) {
      let err = ''
      const code = await startTickwire(['inspect', at('match.twr'), '--page', ...args], {
        print: () => {},
        complain: (line) => {
          err += line
        },
        nowSeconds: () => 0,
        entropy: { fill: () => {} },
      })
      expect([code, err]).toEqual([2, expect.stringContaining(words)])
    }
    taken.close()
  })

  test('[REC13] fields that only the game can read are named', () => {
    const own = manual<number>({ format: 'mine', create: () => 0, serialize: (buffer, value) => buffer.varint(value) })
    const odd = defineGame({
      tickRate: 30,
      input: { fire: bool },
      entities: [entity({ a: own }), Rock],
      step: () => {},
    })
    record(odd as never, at('odd.twr'), 3)
    expect(tickwire('inspect', at('odd.twr'))).toMatchObject({
      code: 0,
      out: expect.stringContaining('Rows cannot be shown without the game'),
    })
    expect(tickwire('inspect', at('odd.twr'), '--tick', '1')).toMatchObject({
      code: 2,
      err: expect.stringContaining('manual'),
    })
    expect(tickwire('bandwidth', at('odd.twr'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('measureBandwidth'),
    })
  })
})

test('[REC19] every tool gives the same result for a range-coded recording', () => {
  const files = (['packed', 'entropy'] as const).map((codec) => {
    record(game, at(`${codec}.twr`), 220, 0.37, 7, codec)
    return at(`${codec}.twr`)
  })
  const [plain, coded] = files.map((path) => {
    const {
      file: _file,
      sizeBytes: _sizeBytes,
      kinds: _kinds,
      codec,
      ...rest
    } = JSON.parse(tickwire('inspect', path, '--json').out)
    const { file: _path, ...bandwidth } = JSON.parse(tickwire('bandwidth', path, '--json').out)
    expect(tickwire('train', path, '-o', `${path}.json`).code).toBe(0)
    return {
      codec,
      said: {
        rest,
        bandwidth,
        tick: tickwire('inspect', path, '--tick', '150').out,
        priors: readFileSync(`${path}.json`, 'utf8'),
      },
    }
  })
  expect([plain!.codec, coded!.codec]).toEqual(['packed', 'entropy'])
  expect(coded!.said).toEqual(plain!.said)
  expect(statSync(files[1]!).size).toBeLessThan(statSync(files[0]!).size)
})

test('[CLI1] --version prints the version of the package', () => {
  const [, version] = /"version": "(.*)"/.exec(readFileSync('packages/tickwire/package.json', 'utf8'))!
  expect(tickwire('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' })
})

test('[REC5] a file that cannot be written is a sink that refuses', () => {
  const file = createRecordingFile(at('gone.twr'))
  file.close()
  expect(file.write(new Uint8Array(3), undefined)).toBe(false)
  expect(openRecordingFile(at('gone.twr'))).toBe('not-a-recording')
})
