/** S3: an attacker on the path takes the secret that admits a client: its token, its ticket, the code of its room. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { AttackReport } from '../stage.ts'
import { answersTo, HeldRelay, isResponse, optionsFor, SECRETS, secretOf, UdpClient, type Secret } from './on-path.ts'
import { withVictim } from './victim.ts'

const HELD_MS = 1200
const IN_MS = 5000

/** The attacker holds back the Responses of one second, searches them for the secret, and sends them to the server. */
export async function stolenSecrets(): Promise<AttackReport[]> {
  let [taken, stolen, letIn] = [0, 0, 0]
  for (const secret of SECRETS) {
    const outcome = await steal(secret)
    taken += outcome.taken
    stolen += outcome.stolen
    if (outcome.isVictimIn) letIn++
  }
  return [
    {
      threat: 'S3',
      what: 'Responses taken on the path: secrets found in them, or answers to the thief',
      count: taken,
      value: taken === 0 ? NaN : stolen,
      unit: '',
      atMost: 0,
    },
    {
      threat: 'S3',
      what: 'clients whose Responses were taken: in, once one passes, of 3',
      count: SECRETS.length,
      value: letIn,
      unit: '',
      atLeast: SECRETS.length,
    },
  ]
}

async function steal(secret: Secret): Promise<{ taken: number; stolen: number; isVictimIn: boolean }> {
  return await withVictim(optionsFor(secret), async (victim) => {
    const { join, pass, bytes } = await secretOf(secret, victim)
    const relay = await HeldRelay.open(victim.udpPort)
    relay.tamper = (datagram, isToServer) => (isToServer && isResponse(datagram) ? [] : [datagram])
    const client = await UdpClient.start(relay.port, join, pass)
    await sleep(HELD_MS)
    const responses = relay.said.filter(isResponse)
    const found = relay.said.filter((datagram) => datagram.includes(bytes)).length
    const answers = await answersTo(victim.udpPort, responses, 300)
    relay.tamper = (datagram) => [datagram]
    const isVictimIn = await client.isIn(IN_MS)
    client.stop()
    relay.close()
    return { taken: responses.length, stolen: found + answers.length, isVictimIn }
  })
}
