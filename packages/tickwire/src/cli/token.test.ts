import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundlePrograms } from '../../../../test/bundle-programs.ts'
import { parseToken } from '../core/crypto/connect-token.ts'
import { textToBytes, textToKey } from '../core/crypto/token-text.ts'
import { runTickwire } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwire-token-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const at = (name: string): string => join(folder, name)
const NOW = 1_800_000_000

/** Runs a command at a given time, with entropy that counts up. */
function tickwire(args: readonly string[], nowSeconds: number = NOW): { code: number; out: string; err: string } {
  const said = { out: '', err: '' }
  let next = 1
  const code = runTickwire(args, {
    print: (line) => { said.out += `${line}\n` },
    complain: (line) => { said.err += `${line}\n` },
    nowSeconds: () => nowSeconds,
    entropy: { fill: (bytes) => { bytes.fill(next++) } },
  })
  return { code, ...said }
}

const issueArgs = (...more: string[]): string[] =>
  ['token', 'issue', '--key', at('issuer.key'), '--server', at('server.pub'), '--user', 'ada', ...more]

beforeAll(() => {
  expect(tickwire(['token', 'keys', '--out', folder]).code).toBe(0)
})

describe('tickwire token', () => {
  test('[TOKEN10] keys: four files, secrets readable by their owner only, never overwritten without a flag', () => {
    for (const [name, kind] of [
      ['issuer.key', 'issuer-secret'],
      ['issuer.pub', 'issuer-public'],
      ['server.key', 'server-secret'],
      ['server.pub', 'server-public'],
    ]) {
      expect(textToKey(readFileSync(at(name!), 'utf8').trim())?.kind).toBe(kind)
    }
    for (const name of ['issuer.key', 'server.key']) expect(statSync(at(name)).mode & 0o077).toBe(0)
    const before = readFileSync(at('issuer.key'), 'utf8')
    expect(tickwire(['token', 'keys', '--out', folder])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--force'),
    })
    expect(readFileSync(at('issuer.key'), 'utf8')).toBe(before)
    expect(tickwire(['token', 'keys', '--out', at('forced')]).code).toBe(0)
    expect(tickwire(['token', 'keys', '--out', at('forced'), '--force']).code).toBe(0)
  })

  test('[TOKEN10] issue prints a token and nothing else; inspect shows every field', () => {
    const { code, out } = tickwire(issueArgs('--minutes', '10', '--audience', 'arena', '--suite', '2'))
    expect(code).toBe(0)
    const token = parseToken(textToBytes(out.trim())!)!
    expect(token).toMatchObject({ suite: 2, audience: 'arena', issuedAt: NOW, expiresAt: NOW + 600 })
    const shown = tickwire(
      [
        'token',
        'inspect',
        out.trim(),
        '--issuer',
        at('issuer.pub'),
        '--server',
        at('server.pub'),
        '--audience',
        'arena',
      ],
      NOW + 60,
    )
    expect(shown.code).toBe(0)
    expect(shown.out.split('\n').map((line) => line.replace(/\s+/, ': '))).toEqual([
      'version: 1',
      'suite: 2, AES-256-GCM',
      expect.stringMatching(/^issuer: key [\w-]{11}$/),
      `server: ${readFileSync(at('server.pub'), 'utf8').trim()}`,
      'id: AQEBAQEBAQEBAQEBAQEBAQ',
      'issued: 2027-01-15T08:00:00Z',
      'expires: 2027-01-15T08:10:00Z (in 540 s)',
      'audience: arena',
      'user: "ada"',
      'verdict: good',
      '',
    ])
  })

  test('[TOKEN10] inspect prints why a token is invalid, with exit code 1', () => {
    const text = tickwire(issueArgs()).out.trim()
    tickwire(['token', 'keys', '--out', at('other')])
    writeFileSync(at('other.pub'), `tickwire-server-public:${'A'.repeat(43)}\n`)
    const verdict = (args: string[], now: number = NOW): string[] => {
      const { code, out } = tickwire(['token', 'inspect', ...args], now)
      return [String(code), out.trim().split('\n').at(-1)!.replace(/^verdict\s+/, '')]
    }
    const issuer = ['--issuer', at('issuer.pub')]
    expect(verdict([text])).toEqual(['0', expect.stringContaining('not checked')])
    expect(verdict([text, ...issuer])).toEqual(['0', 'good'])
    for (const more of [[], issuer]) {
      expect(verdict([text, ...more], NOW + 300)).toEqual(['1', 'refused: expired'])
      expect(verdict([text, ...more], NOW - 60)).toEqual(['1', 'refused: not-yet'])
      expect(verdict([text, ...more, '--audience', 'chess'])).toEqual(['1', 'refused: audience'])
      expect(verdict([text, ...more, '--server', at('other.pub')])).toEqual(['1', 'refused: server'])
    }
    const last = text.at(-10) === 'A' ? 'B' : 'A'
    expect(verdict([text.slice(0, -10) + last + text.slice(-9), ...issuer])).toEqual(['1', 'refused: signature'])
    expect(verdict([text.slice(0, -4)])).toEqual(['1', expect.stringContaining('malformed')])
    expect(verdict(['not a token'])).toEqual(['1', expect.stringContaining('malformed')])
    expect(JSON.parse(tickwire(['token', 'inspect', text, '--json']).out)).toMatchObject({
      audience: 'game',
      user: '"ada"',
    })
  })

  test.each([
    [['token', 'issue'], '--key is missing'],
    [['token', 'issue', '--key', 'nowhere.key', '--server', 'x'], 'nowhere.key cannot be read (ENOENT)'],
    [
      ['token', 'issue', '--key', `tickwire-server-secret:${'A'.repeat(43)}`, '--server', 'x'],
      "wrong key (expected the issuer's secret key, got a server secret key)",
    ],
    [['token', 'issue', '--key', 'tickwire-issuer-secret:short', '--server', 'x'], 'is not a key'],
    [['token', 'issue', '--minutes', 'five'], '--minutes five is not a number'],
    [['token', 'issue', '--suite', '3'], '--suite: unknown suite 3'],
    [['token', 'issue', '--colour', 'red'], '--colour'],
    [
      ['token', 'issue', '--key', 'packages', '--server', 'x'],
      'packages cannot be read (EISDIR). It is a folder: give a file.',
    ],
    [
      ['token', 'keys', '--out', 'package.json'],
      'package.json cannot be written (EEXIST). It is a file: give a folder.',
    ],
    [['token', 'keys', '--out', 'package.json/keys'], 'package.json/keys cannot be written (ENOTDIR)'],
    [['token', 'keys', 'here'], 'here'],
    [['token', 'inspect'], 'Give one token'],
    [['token', 'inspect', 'a', 'b'], 'Give one token'],
    [['token', 'burn'], 'unknown command "token burn"'],
    [['fly'], 'unknown command "fly"'],
  ])('[TOKEN10] %j is refused, with the reason', (args, words) => {
    const { code, out, err } = tickwire(args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(words)
    expect(err).not.toContain('A'.repeat(43))
  })

  test('[TOKEN10] a token that no server would accept is not issued', () => {
    expect(tickwire(issueArgs('--minutes', '61'))).toMatchObject({ code: 2, err: expect.stringContaining('1 to 3600') })
    expect(tickwire(issueArgs('--minutes', '0'))).toMatchObject({ code: 2 })
    expect(tickwire(issueArgs('--audience', 'x'.repeat(40)))).toMatchObject({
      code: 2,
      err: expect.stringContaining('token.audience'),
    })
    expect(tickwire(issueArgs('--user', 'x'.repeat(257)))).toMatchObject({
      code: 2,
      err: expect.stringContaining('token.user'),
    })
  })

  test('[TOKEN10] the command and each of its subcommands print help', () => {
    for (const args of [[], ['--help'], ['-h'], ['token'], ['token', '--help']]) {
      expect(tickwire(args)).toMatchObject({ code: 0, out: expect.stringContaining('tickwire token inspect') })
    }
    for (const name of ['keys', 'issue', 'inspect']) {
      expect(tickwire(['token', name, '--help'])).toMatchObject({
        code: 0,
        out: expect.stringContaining(`tickwire token ${name}`),
      })
    }
  })

  test('[TOKEN10] the program does the same, on the real clock', async ({ onTestFinished }) => {
    const bundle = await bundlePrograms({ tickwire: 'packages/tickwire/src/cli/index.ts' })
    onTestFinished(() => bundle.remove())
    const run = (...args: string[]): ReturnType<typeof spawnSync> =>
      spawnSync(process.execPath, [join(bundle.folder, 'tickwire.mjs'), ...args], { encoding: 'utf8' })
    const issued = run(...issueArgs())
    expect(issued.stderr).toBe('')
    const shown = run('token', 'inspect', String(issued.stdout).trim(), '--issuer', at('issuer.pub'))
    expect([shown.status, shown.stdout]).toEqual([0, expect.stringMatching(/verdict +good\n/)])
    expect(run('token', 'inspect', 'x').status).toBe(1)
    expect(run('nonsense').status).toBe(2)
  })
})
