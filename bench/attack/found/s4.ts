/** S4: an attacker on the path answers a client with forged challenges, to read the data that the client seals. */

import { setTimeout as sleep } from 'node:timers/promises'
import { writeChallenge } from '../../../packages/tickwire/src/core/connection/handshake.ts'
import { signChallengeKey } from '../../../packages/tickwire/src/core/crypto/transcript.ts'
import { readUint32 } from '../../../packages/tickwire/src/core/packet/header.ts'
import type { AttackReport } from '../stage.ts'
import {
  HeldRelay, isRequest, isResponse, optionsFor, provider, SECRETS, secretOf, UdpClient, type Secret,
} from './on-path.ts'
import { withVictim } from './victim.ts'

const HELD_MS = 1500
const IN_MS = 5000
const SALT_AT = 16

/**
 * Every Request is answered by a forged Challenge, and the server's challenges are held back. Later they pass, after
 * forged ones.
 */
export async function falseChallenges(): Promise<AttackReport[]> {
  let [forged, hellos, letIn] = [0, 0, 0]
  for (const secret of SECRETS) {
    const outcome = await lure(secret)
    forged += outcome.forged
    hellos += outcome.hellos
    if (outcome.isVictimIn) letIn++
  }
  return [
    {
      threat: 'S4',
      what: 'false Challenges: sealed Responses they got',
      count: forged,
      value: forged === 0 ? NaN : hellos,
      unit: '',
      atMost: 0,
    },
    {
      threat: 'S4',
      what: 'clients that got them: in, once a genuine one passes, of 3',
      count: SECRETS.length,
      value: letIn,
      unit: '',
      atLeast: SECRETS.length,
    },
  ]
}

async function lure(secret: Secret): Promise<{ forged: number; hellos: number; isVictimIn: boolean }> {
  return await withVictim(optionsFor(secret), async (victim) => {
    const { join, pass } = await secretOf(secret, victim)
    const relay = await HeldRelay.open(victim.udpPort)
    let [forged, isGenuineLet] = [0, false]
    relay.tamper = (datagram, isToServer) => {
      if (!isToServer) return isGenuineLet ? [datagram] : []
      if (!isRequest(datagram)) return [datagram]
      forged++
      relay.toClient(falseChallenge(datagram))
      return [datagram]
    }
    const client = await UdpClient.start(relay.port, join, pass)
    await sleep(HELD_MS)
    const hellos = relay.said.filter(isResponse).length
    isGenuineLet = true
    const isVictimIn = await client.isIn(IN_MS)
    client.stop()
    relay.close()
    return { forged, hellos, isVictimIn }
  })
}

/** With a key and an identity of the attacker. */
function falseChallenge(request: Uint8Array): Uint8Array {
  const { publicKey } = provider.importAgreement(new Uint8Array(32).fill(66))
  const signature = signChallengeKey(provider.importSigning(new Uint8Array(32).fill(67)), publicKey)
  const out = new Uint8Array(200)
  const salt = [readUint32(request, SALT_AT), readUint32(request, SALT_AT + 4)] as const
  return out.slice(0, writeChallenge(out, ...salt, 1, publicKey, new Uint8Array(16).fill(1), signature))
}
