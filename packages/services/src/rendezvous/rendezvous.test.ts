import { expect, test } from 'vitest'
import { GUESSES_PER_HOUR, GuessLimit, originName } from './guess-limit.ts'
import { makeCode, makeKey, readCode } from './join-code.ts'
import { Sessions } from './sessions.ts'

const LIMITS = { codeMs: 600_000, sessionsMax: 3, sessionsPerOrigin: 2 }
const FACTS = { fingerprint: '00'.repeat(8), identity: '00'.repeat(32), capacity: 2 }

test('[CODE1] a code is read as it was made, whatever case, spaces and dashes it has', () => {
  for (let round = 0; round < 500; round++) {
    for (const isStrong of [false, true]) {
      const code = makeCode(isStrong)
      const key = makeKey()
      for (const spelt of [code, code.toLowerCase(), code.replaceAll('-', ''), ` ${code.replaceAll('-', '  ')} `])
        expect(readCode(spelt), spelt).toEqual({ code, key: undefined })
      expect(readCode(`${code}-${key}`)).toEqual({ code, key })
    }
  }
  expect(readCode('iron 7k3m')).toEqual({ code: 'IRON-7K3M', key: undefined })
  expect(readCode('IRON-OI3L')).toEqual({ code: 'IRON-0131', key: undefined })
  for (const none of ['', 'IRON', '7K3M', 'NOTAWORD-7K3M', 'IRON-7K3!', 'IRON-WOLF-IRON-7K3M', 'x'.repeat(100)])
    expect(readCode(none), none).toBeUndefined()
})

test('[CODE2] an origin has 5 wrong guesses a minute and 30 an hour; an IPv6 network is one origin', () => {
  const limit = new GuessLimit()
  let [now, guesses] = [0, 0]
  for (; now < 3_600_000; now += 100) {
    if (!limit.mayGuess(now, `2001:db8::${(now % 65_536).toString(16)}`)) continue
    limit.note(now, `2001:db8::${(now % 65_536).toString(16)}`)
    guesses++
  }
  expect(guesses).toBe(GUESSES_PER_HOUR)
  // The bar of threat T25: the chance to hit one of 100 live codes, for an hour and an origin.
  expect((guesses * 100) / (2048 * 32 ** 4)).toBeLessThan(1e-5)
  expect(limit.mayGuess(now, '2001:db8:0:1::1')).toBe(true)
  expect(limit.mayGuess(now + 3_600_000, '2001:db8::1')).toBe(true)
  expect(['::ffff:1.2.3.4', '1.2.3.4', '2001:0DB8::1', '2001:db8:0:0:9::', '::1'].map(originName))
    .toEqual(['1.2.3.4', '1.2.3.4', '2001:db8:0:0', '2001:db8:0:0', '0:0:0:0'])
  for (let origin = 0; origin < 30_000; origin++)
    limit.note(now, `10.${origin >> 16}.${(origin >> 8) & 255}.${origin & 255}`)
  expect(limit.origins).toBe(20_000)
})

test('[CODE3] a code lives while its host is connected and ten minutes longer; tickets are valid once', () => {
  const sessions = new Sessions(LIMITS, new Uint8Array(32))
  const session = sessions.create(0, '1.1.1.1', FACTS, false)
  if (session === 'full') throw new Error('full')
  sessions.setHost(0, session, true)
  const ticket = sessions.admit(3_600_000, session)
  expect(sessions.find(3_600_000, session.code, undefined)).toBe(session)
  expect(sessions.find(0, session.code, makeKey())).toBeUndefined()
  expect(sessions.redeem(3_600_000, session, ticket)).toMatch(/^g/)
  expect(sessions.redeem(3_600_000, session, ticket)).toBeUndefined()
  const late = sessions.admit(0, session)
  expect(sessions.redeem(60_000, session, late)).toBeUndefined()
  sessions.redeem(0, session, sessions.admit(0, session))
  expect(sessions.admit(0, session)).toBe('full')
  sessions.setHost(0, session, false)
  expect(sessions.find(599_999, session.code, undefined)).toBe(session)
  expect(sessions.find(600_000, session.code, undefined)).toBeUndefined()
  expect(sessions.create(600_000, '1.1.1.1', FACTS, false)).not.toBe('full')
  expect(sessions.create(600_000, '1.1.1.1', FACTS, true)).not.toBe('full')
  expect(sessions.create(600_000, '1.1.1.1', FACTS, false)).toBe('full')
  expect(sessions.size).toBe(2)
})

test('[CODE4] only the secret of a session takes its code back, also in a process that has lost it', () => {
  const key = new Uint8Array(32).fill(5)
  const before = new Sessions(LIMITS, key)
  const session = before.create(0, '1.1.1.1', FACTS, false)
  if (session === 'full') throw new Error('full')
  const proof = { session: session.id, code: session.code, key: session.key, secret: before.secretOf(session) }
  const after = new Sessions(LIMITS, key)
  for (const forged of [
    { ...proof, secret: '0'.repeat(64) }, { ...proof, secret: '' }, { ...proof, code: 'IRON-7K3M' },
    { ...proof, key: makeKey() }, { ...proof, session: '0'.repeat(32) },
  ]) expect(after.resume(0, '1.1.1.1', FACTS, forged)).toBe('refused')
  expect(after.resume(0, '1.1.1.1', FACTS, proof)).toMatchObject({ code: session.code, id: session.id })
  expect(new Sessions(LIMITS, new Uint8Array(32)).resume(0, '1.1.1.1', FACTS, proof)).toBe('refused')
})

test('[CODE6] a guest comes back under its name, at a process without memory too, and under no other', () => {
  const key = new Uint8Array(32).fill(1)
  const sessions = new Sessions(LIMITS, key)
  const session = sessions.create(0, '1.2.3.4', FACTS, false)
  if (session === 'full') throw new Error('no session')
  const guests = [1, 2].map(() => sessions.redeem(1, session, sessions.admit(0, session))!)
  const [first, second] = guests as [string, string]
  const again = sessions.againOf(session.id, first)
  // Its old socket is not closed yet.
  expect(sessions.comeBack(session, first, again)).toBe(first)
  expect(sessions.comeBack(session, second, again)).toBeUndefined()
  expect(sessions.comeBack(session, 'host', sessions.againOf(session.id, 'host'))).toBeUndefined()
  session.guests.delete(first)
  session.guests.add('another')
  expect(sessions.comeBack(session, first, again)).toBeUndefined()
  const { id, code, key: linkKey } = session
  const proof = { session: id, code, key: linkKey, secret: sessions.secretOf(session) }
  const restarted = new Sessions(LIMITS, key)
  const resumed = restarted.resume(0, '1.2.3.4', FACTS, proof)
  if (typeof resumed === 'string') throw new Error(resumed)
  expect(restarted.comeBack(resumed, first, again)).toBe(first)
})
