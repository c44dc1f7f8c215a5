/**
 * The handshake: request, challenge, response, accepted or refused, as in docs/wire/STANDARD.md, "Handshake".
 */

import { randomBytes } from 'node:crypto'
import {
  agree, createEphemeral, extract, packetKey, seal, transcriptOf, unseal, type Ephemeral, type PacketKey,
} from './keys.ts'
import type { Line, Target } from './line.ts'
import {
  FULL_BYTES, HANDSHAKE, HEAD_BYTES, readHead, TYPE, WIRE_VERSION, writeHello, writeRequest, writeResponseHead,
  type HeadFields,
} from './packets.ts'

const TAG_BYTES = 16
const CHALLENGE_BYTES = HEAD_BYTES + 122
const REJECTED_BYTES = HEAD_BYTES + 10

/** A request: its salt, its key, and the suites it offers. */
export interface Question {
  readonly salt: Buffer
  readonly own: Ephemeral
  readonly suites: readonly number[]
  readonly datagram: Buffer
}

export interface Challenge {
  readonly salt: Buffer
  readonly suite: number
  readonly serverKey: Buffer
  readonly cookie: Buffer
  /** Signature of the server's identity key over `serverKey`. */
  readonly signature: Buffer
  readonly bytes: number
}

/** A response to a challenge, with what is needed to read the server's verdict. */
export interface Answer {
  readonly question: Question
  readonly challenge: Challenge
  readonly shared: Buffer
  readonly datagram: Buffer
}

/** Parts of a response that a check may set to wrong values. */
export interface WrongAnswer {
  readonly fingerprint?: Uint8Array
  readonly cookie?: Buffer
  readonly shared?: Buffer
}

export type Verdict =
  | { readonly is: 'refused'; readonly reason: number; readonly datagram: Buffer }
  | {
      readonly is: 'accepted'
      readonly datagram: Buffer
      readonly connection: Buffer
      readonly resetToken: Buffer
      readonly signature: Buffer
      readonly bytesMax: number
      readonly welcome: Buffer
      readonly secret: Buffer
      readonly transcript: Buffer
      readonly suite: number
    }

/** A request with a new salt and key. */
export function createQuestion(suites: readonly number[] = [1], fields: HeadFields = {}): Question {
  const own = createEphemeral()
  const salt = randomBytes(8)
  return { salt, own, suites, datagram: writeRequest(salt, own.publicKey, suites, fields) }
}

export function readChallenge(bytes: Buffer, salt: Uint8Array): Challenge | undefined {
  const head = readHead(bytes)
  if (head?.type !== TYPE.handshake || bytes[head.end] !== HANDSHAKE.challenge || bytes.length !== CHALLENGE_BYTES)
    return undefined
  const at = head.end
  if (!bytes.subarray(at + 1, at + 9).equals(salt)) return undefined
  return {
    salt: bytes.subarray(at + 1, at + 9), suite: bytes[at + 9] ?? 0, serverKey: bytes.subarray(at + 10, at + 42),
    cookie: bytes.subarray(at + 42, at + 58), signature: bytes.subarray(at + 58, at + 122), bytes: bytes.length,
  }
}

/** The reason of an unsealed rejection, and its protocol version. */
export function readRejected(
  bytes: Buffer,
  salt: Uint8Array,
): { readonly reason: number; readonly version: number } | undefined {
  const head = readHead(bytes)
  if (head?.type !== TYPE.handshake || bytes[head.end] !== HANDSHAKE.rejected || bytes.length !== REJECTED_BYTES)
    return undefined
  if (!bytes.subarray(head.end + 1, head.end + 9).equals(salt)) return undefined
  return { reason: bytes[head.end + 9] ?? 0, version: head.version }
}

/** A response to a challenge. The values in `wrong` replace what the target expects. */
export function createAnswer(
  target: Target, question: Question, challenge: Challenge, wrong: WrongAnswer = {},
): Answer {
  const {
    cookie = challenge.cookie,
    fingerprint = target.fingerprint,
    shared = agree(question.own, challenge.serverKey),
  } = wrong
  const { suite } = challenge
  const head = writeResponseHead(question.salt, suite, question.own.publicKey, cookie, question.suites)
  const transcript = transcriptOf([...partsOf(question, { ...challenge, cookie }), offeredPart(question)])
  const key = packetKey(extract(cookie, shared), 'hello', suite, 0, transcript)
  const plain = writeHello(fingerprint, target.token, target.user, FULL_BYTES - head.length - TAG_BYTES)
  return { question, challenge, shared, datagram: seal(key, 0, 0, head, plain) }
}

/** The server's verdict on a response; undefined when the datagram is not one, or does not open. */
export function readVerdict(target: Target, answer: Answer, bytes: Buffer): Verdict | undefined {
  const head = readHead(bytes)
  if (head?.type !== TYPE.handshake || !bytes.subarray(head.end + 1, head.end + 9).equals(answer.question.salt))
    return undefined
  const kind = bytes[head.end]
  if (kind !== HANDSHAKE.accepted && kind !== HANDSHAKE.refused) return undefined
  const { question, challenge, shared } = answer
  const random = bytes.subarray(head.end + 9, head.end + 25)
  const transcript = transcriptOf([
    ...partsOf(question, challenge).slice(0, 2),
    [3, target.fingerprint],
    ...partsOf(question, challenge).slice(2),
    [7, target.token],
    [8, target.user],
    [9, random],
    [10, head.connection],
    offeredPart(question),
  ])
  const secret = extract(Buffer.concat([challenge.cookie, random]), shared)
  const plain = unseal(serverKeyOf(secret, challenge.suite, 0, transcript), 0, 0, bytes, head.end + 25)
  if (plain === undefined) return undefined
  if (kind === HANDSHAKE.refused)
    return plain.length === 1 ? { is: 'refused', reason: plain[0] ?? 0, datagram: bytes } : undefined
  if (plain.length < 84 || plain.length !== 84 + plain.readUInt16LE(82)) return undefined
  return {
    is: 'accepted',
    datagram: bytes,
    connection: head.connection,
    resetToken: plain.subarray(0, 16),
    signature: plain.subarray(16, 80),
    bytesMax: plain.readUInt16LE(80),
    welcome: plain.subarray(84),
    secret,
    transcript,
    suite: challenge.suite,
  }
}

/** Runs a handshake. Returns the response and the verdict, if there was one. */
export async function visit(
  line: Line, suites: readonly number[] = [1], wrong: { readonly fingerprint?: Uint8Array } = {},
): Promise<{ readonly answer: Answer; readonly verdict: Verdict | undefined } | undefined> {
  const question = createQuestion(suites)
  const challenge = await line.ask(question.datagram, (bytes) => readChallenge(bytes, question.salt))
  if (challenge === undefined) return undefined
  const answer = createAnswer(line.target, question, challenge, wrong)
  const said = { ...line.target, fingerprint: wrong.fingerprint ?? line.target.fingerprint }
  return { answer, verdict: await line.ask(answer.datagram, (bytes) => readVerdict(said, answer, bytes)) }
}

export function clientKeyOf(secret: Uint8Array, suite: number, epoch: number, transcript: Uint8Array): PacketKey {
  return packetKey(secret, 'client', suite, epoch, transcript)
}

export function serverKeyOf(secret: Uint8Array, suite: number, epoch: number, transcript: Uint8Array): PacketKey {
  return packetKey(secret, 'server', suite, epoch, transcript)
}

function offeredPart({ suites }: Question): [number, Uint8Array] {
  return [11, Buffer.from(suites)]
}

function partsOf(question: Question, challenge: Challenge): [number, Uint8Array][] {
  return [
    [1, Buffer.of(WIRE_VERSION)], [2, Buffer.of(challenge.suite)], [4, question.own.publicKey], [5, challenge.cookie],
    [6, challenge.serverKey],
  ]
}
