/** The hosts of a world of services: each keeps a listing at the tracker, and a join code at the rendezvous. */

import type { Instance } from './services-fleet.ts'
import { FINGERPRINT } from './services-fleet.ts'
import type { Session, Sessions } from '../../packages/services/src/rendezvous/sessions.ts'
import type { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { TestHost } from '../contract/tracker-stage.ts'
import { hold } from './invariants.ts'
import type { ServicesTime, SimProcess } from './services-time.ts'

/** The parts of a host's description that do not matter here. */
const DESCRIPTION = { fingerprint: FINGERPRINT, identity: '00'.repeat(32), capacity: 4 }

/** What hosts need of their world. */
export interface HostsHome {
  readonly time: ServicesTime
  readonly dice: Dice
  readonly instances: readonly Instance[]
  /** The rendezvous: another one after a crash. */
  sessions(): Sessions
  count(name: string): void
  judge(check: () => void): void
}

/** One of them. */
export interface ServicesHost {
  readonly process: SimProcess
  readonly keys: TestHost
  /** The id and the secret of its listing. */
  listing: { readonly id: string; readonly lease: string } | undefined
  session: { readonly id: string; readonly code: string; readonly key: string; readonly secret: string } | undefined
}

/** Starts a host, or the next process of one. */
export function startHost(
  home: HostsHome, process: SimProcess, number: number, before: ServicesHost | undefined,
): ServicesHost {
  const host: ServicesHost = {
    process, keys: before?.keys ?? new TestHost(number), listing: undefined, session: before?.session,
  }
  void home.time.run(process, async () => { while (!process.isDead) await keepHost(home, host) })
  return host
}

/** One round of a host: it renews its listing and its code, or makes them again. */
async function keepHost(home: HostsHome, host: ServicesHost): Promise<void> {
  const { time, dice, instances } = home
  const tracker = instances[dice.word() % instances.length]!
  if (!tracker.process.isDead && tracker.process.frozenUntil <= time.now) {
    const { listing } = host
    if (listing === undefined) {
      const answer = await tracker.listings.publish(host.keys.sign(), 'origin')
      if (typeof answer !== 'string') host.listing = answer
    } else {
      const answer = await tracker.listings.renew(listing.id, listing.lease, undefined)
      if (answer === 'gone' || answer === 'forbidden') host.listing = undefined
    }
  }
  keepCode(home, host)
  await time.sleep(2000 + 500 * dice.fraction())
}

function keepCode(home: HostsHome, host: ServicesHost): void {
  const sessions = home.sessions()
  const { session } = host
  const { now } = home.time
  if (session === undefined) {
    const made = sessions.create(now, '192.0.2.1', DESCRIPTION, false)
    if (made !== 'full') host.session = proofOf(sessions, made)
    return
  }
  const { id, code, key, secret } = session
  const isKnown = sessions.get(id) !== undefined
  const back = sessions.resume(now, '192.0.2.1', DESCRIPTION, { session: id, code, key, secret })
  if (!isKnown) home.count('code resumed')
  const isSame = typeof back !== 'string' && back.code === code
  home.judge(() => hold(isSame, 'I51', () => `a host that is back with ${code} gets another session`))
}

function proofOf(sessions: Sessions, session: Session): NonNullable<ServicesHost['session']> {
  const { id, code, key } = session
  return { id, code, key, secret: sessions.secretOf(session) }
}
