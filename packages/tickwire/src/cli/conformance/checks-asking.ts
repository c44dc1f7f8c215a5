/**
 * Checks of a server's answers before a connection exists: docs/wire/STANDARD.md, "Handshake", and
 * docs/wire/STATE-MACHINE.md, "Asking".
 */

import { randomBytes } from 'node:crypto'
import type { Check } from './check.ts'
import { isChallengeSignedBy, isSignedBy } from './keys.ts'
import { pause } from './line.ts'
import {
  FULL_BYTES, HEAD_BYTES, NO_CONNECTION, readHead, REASONS, WIRE_VERSION, writeHead, writeRequest,
} from './packets.ts'
import { createAnswer, createQuestion, readChallenge, readRejected, readVerdict, visit } from './visit.ts'

/** The largest answer to an unverified client, as a share of its request. */
const ANSWER_SHARE_MAX = 0.35
/** Longer than any cookie is valid. */
const COOKIE_OLD_MS = 8_500
const ASKING = 'STANDARD.md, Handshake'
const STRANGERS = 'STATE-MACHINE.md, Asking'
const REASON_VERSION = REASONS.indexOf('version')
const REASON_SCHEMA = REASONS.indexOf('schema')

const said = (answers: readonly Buffer[]): string | undefined =>
  answers.length === 0
    ? undefined
    : `${answers.length} answers, the first ${answers[0]?.subarray(0, 24).toString('hex')}…`

export const ASKING_CHECKS: readonly Check[] = [
  {
    id: 'ask-challenge',
    section: ASKING,
    says: 'a request is answered by a challenge with its salt, and no connection is named',
    async run(lab) {
      const line = await lab.line()
      const { datagram, salt } = createQuestion()
      const bytes = await line.ask(datagram, (answer) => answer)
      if (bytes === undefined) return 'no answer: is this the UDP port of a server?'
      const challenge = readChallenge(bytes, salt)
      if (challenge === undefined) return `the answer is not a challenge: ${bytes.toString('hex')}`
      if (challenge.suite !== 1) return `suite 1 was offered and ${challenge.suite} was chosen`
      if (!readHead(bytes)?.connection.equals(NO_CONNECTION)) return 'the answer has a connection id'
      const { identity } = lab.target
      if (identity !== undefined && !isChallengeSignedBy(identity, challenge.serverKey, challenge.signature)) {
        return 'its server key is not signed by the identity key that was given'
      }
      return bytes.length > FULL_BYTES * ANSWER_SHARE_MAX ? `an answer of ${bytes.length} bytes` : undefined
    },
  },
  {
    id: 'ask-length', section: ASKING, says: 'a request that is not 1200 bytes long gets no answer',
    async run(lab) {
      const { datagram } = createQuestion()
      return said(
        await (
          await lab.line()
        ).answersTo(datagram.subarray(0, 1199), datagram.subarray(0, 100), Buffer.concat([datagram, Buffer.alloc(1)])),
      )
    },
  },
  {
    id: 'ask-padding', section: ASKING, says: 'a request whose padding is not zero gets no answer',
    async run(lab) {
      const { datagram } = createQuestion()
      datagram[FULL_BYTES - 1] = 1
      return said(await (await lab.line()).answersTo(datagram))
    },
  },
  {
    id: 'ask-noise',
    section: 'STANDARD.md, Header',
    says: 'noise, another magic, unknown types and truncated headers get no answer',
    async run(lab) {
      const other = Buffer.from(createQuestion().datagram)
      other[0] = 0x55
      const types = [5, 6, 255].map((type) =>
        Buffer.concat([writeHead(type, { connection: randomBytes(8), sequence: 1 })], 40),
      )
      const noise = [1, 14, 15, 40, 700, 1200].map((size) => randomBytes(size))
      return said(
        await (
          await lab.line()
        ).answersTo(other, ...types, ...noise, Buffer.from('TKW'), createQuestion().datagram.subarray(0, 14)),
      )
    },
  },
  {
    id: 'ask-number',
    section: ASKING,
    says: 'a request with a sequence, an epoch or a connection id gets no answer',
    async run(lab) {
      const wrong = [{ sequence: 1 }, { epoch: 1 }, { connection: Buffer.alloc(8, 1) }].map(
        (fields) => createQuestion([1], fields).datagram,
      )
      return said(await (await lab.line()).answersTo(...wrong))
    },
  },
  {
    id: 'ask-version',
    section: 'STANDARD.md, Reasons',
    says: "a request of another version is rejected with reason 4, in the server's own version",
    async run(lab) {
      const line = await lab.line()
      const { datagram, salt } = createQuestion([1], { version: 99 })
      const rejected = await line.ask(datagram, (bytes) => readRejected(bytes, salt))
      if (rejected === undefined) return 'no rejection'
      if (rejected.reason !== REASON_VERSION) return `reason ${rejected.reason}`
      return rejected.version === WIRE_VERSION ? undefined : `in version ${rejected.version}`
    },
  },
  {
    id: 'ask-suites',
    section: ASKING,
    says: 'unknown suites are rejected with reason 4; no suites, more than 8, or suite 0 get no answer',
    async run(lab) {
      const line = await lab.line()
      const { datagram, salt } = createQuestion([200, 201])
      const rejected = await line.ask(datagram, (bytes) => readRejected(bytes, salt))
      if (rejected?.reason !== REASON_VERSION)
        return rejected === undefined ? 'no rejection' : `reason ${rejected.reason}`
      return said(
        await line.answersTo(
          ...[[], [1, 0], [1, 1, 1, 1, 1, 1, 1, 1, 1]].map((suites) => createQuestion(suites).datagram),
        ),
      )
    },
  },
  {
    id: 'ask-preference', section: ASKING, says: 'the server chooses the first offered suite that it supports',
    async run(lab) {
      const line = await lab.line()
      for (const suites of [[200, 1, 2], [1, 2]]) {
        const { datagram, salt } = createQuestion(suites)
        const challenge = await line.ask(datagram, (bytes) => readChallenge(bytes, salt))
        if (challenge?.suite !== 1) return `of ${suites.join()} the server chose ${challenge?.suite ?? 'none'}`
      }
      return undefined
    },
  },
  {
    id: 'answer-cookie',
    section: STRANGERS,
    says: 'a response with another cookie, another key, or from another address gets no answer',
    async run(lab) {
      const line = await lab.line()
      const question = createQuestion()
      const challenge = await line.ask(question.datagram, (bytes) => readChallenge(bytes, question.salt))
      if (challenge === undefined) return 'no challenge'
      const forged = createAnswer(lab.target, question, challenge, { cookie: randomBytes(16) })
      const stolen = createAnswer(lab.target, createQuestion(), challenge)
      const here = said(await line.answersTo(forged.datagram, stolen.datagram))
      if (here !== undefined) return here
      return said(await (await lab.line()).answersTo(createAnswer(lab.target, question, challenge).datagram))
    },
  },
  {
    id: 'answer-seal', section: 'STANDARD.md, Seal', says: 'a response with one wrong bit, anywhere, gets no answer',
    async run(lab) {
      const line = await lab.line()
      const question = createQuestion()
      const challenge = await line.ask(question.datagram, (bytes) => readChallenge(bytes, question.salt))
      if (challenge === undefined) return 'no challenge'
      const { datagram } = createAnswer(lab.target, question, challenge)
      const flipped = [HEAD_BYTES + 1, HEAD_BYTES + 60, 600, FULL_BYTES - 1].map((at) => {
        const bytes = Buffer.from(datagram)
        bytes[at] = (bytes[at] ?? 0) ^ 1
        return bytes
      })
      return said(await line.answersTo(...flipped, datagram.subarray(0, FULL_BYTES - 1)))
    },
  },
  {
    id: 'answer-suites',
    section: ASKING,
    says: 'a response with another suite than the server chooses of its list gets no answer',
    async run(lab) {
      const line = await lab.line()
      // As if an attacker had cut the request's list from 1, 2 to 2.
      const cut = createQuestion([2])
      const challenge = await line.ask(cut.datagram, (bytes) => readChallenge(bytes, cut.salt))
      if (challenge === undefined) return undefined
      return said(await line.answersTo(createAnswer(lab.target, { ...cut, suites: [1, 2] }, challenge).datagram))
    },
  },
  {
    id: 'answer-zero-key', section: ASKING, says: 'a client key that makes the shared secret zero is refused',
    async run(lab) {
      const line = await lab.line()
      const { own, salt } = createQuestion()
      const zero = { ...own, publicKey: Buffer.alloc(32) }
      const question = { own: zero, salt, suites: [1], datagram: writeRequest(salt, zero.publicKey, [1]) }
      const challenge = await line.ask(question.datagram, (bytes) => readChallenge(bytes, salt))
      // A server that refuses such a key at once is correct, too.
      if (challenge === undefined) return undefined
      return said(
        await line.answersTo(createAnswer(lab.target, question, challenge, { shared: Buffer.alloc(32) }).datagram),
      )
    },
  },
  {
    id: 'answer-old-cookie', section: STRANGERS, says: 'a cookie is invalid after 8 s', isSlow: true,
    async run(lab) {
      const line = await lab.line()
      const question = createQuestion()
      const challenge = await line.ask(question.datagram, (bytes) => readChallenge(bytes, question.salt))
      if (challenge === undefined) return 'no challenge'
      await pause(COOKIE_OLD_MS)
      return said(await line.answersTo(createAnswer(lab.target, question, challenge).datagram))
    },
  },
  {
    id: 'answer-schema', section: 'STANDARD.md, Reasons', says: 'another fingerprint is refused, sealed, with reason 5',
    async run(lab) {
      const fingerprint = Buffer.from(lab.target.fingerprint)
      fingerprint[3] = (fingerprint[3] ?? 0) ^ 0x40
      const verdict = (await visit(await lab.line(), [1], { fingerprint }))?.verdict
      if (verdict === undefined) return 'no answer that opens'
      if (verdict.is === 'accepted') return 'the client was accepted'
      if (verdict.datagram.length > FULL_BYTES * ANSWER_SHARE_MAX)
        return `an answer of ${verdict.datagram.length} bytes`
      return verdict.reason === REASON_SCHEMA ? undefined : `reason ${verdict.reason}`
    },
  },
  {
    id: 'accept', section: ASKING, needsEntry: true,
    says: 'a valid response is accepted under server key 0, with a connection id and datagrams of 1200 bytes or more',
    async run(lab) {
      const line = await lab.line()
      const accepted = await lab.accepted(line)
      lab.open(line, accepted)
      if (accepted.connection.equals(NO_CONNECTION)) return 'the connection is 0'
      if (accepted.bytesMax < FULL_BYTES) return `datagrams of at most ${accepted.bytesMax} bytes`
      if (accepted.datagram.length > FULL_BYTES * ANSWER_SHARE_MAX)
        return `an answer of ${accepted.datagram.length} bytes`
      const { identity } = lab.target
      return identity === undefined || isSignedBy(identity, accepted.transcript, accepted.signature)
        ? undefined
        : 'it is not signed by the identity key that was given'
    },
  },
  {
    id: 'accept-again',
    section: STRANGERS,
    says: 'a repeated response gets the same acceptance, byte for byte',
    needsEntry: true,
    async run(lab) {
      const line = await lab.line()
      const visited = await visit(line)
      const verdict = visited?.verdict
      if (visited === undefined || verdict?.is !== 'accepted') return 'the client was not accepted'
      const again = await line.ask(visited.answer.datagram, (bytes) => readVerdict(lab.target, visited.answer, bytes))
      lab.open(line, verdict)
      if (again === undefined) return 'no second acceptance'
      return again.datagram.equals(verdict.datagram) ? undefined : 'the second one differs'
    },
  },
]
