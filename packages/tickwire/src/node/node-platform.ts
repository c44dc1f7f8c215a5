/** A process of Node as a room sees it. It is never hidden, and keeps no tickets: a restarted bot is a new player. */

import { isWorthLogging } from '../core/base/user-code.ts'
import type { ClientPlatform } from '../core/client/platform.ts'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import { createEndpoint } from '../core/endpoint/endpoint.ts'
import { sharedAuthority } from '../core/game/client-authority.ts'
import type { ClientParts } from '../core/game/client-host-options.ts'
import { monotonicNow } from './clock.ts'
import { systemEntropy } from './entropy.ts'

/** Draws per second, for programs that draw: to a terminal, to a picture. */
const DRAW_RATE = 60

export const nodePlatform: ClientPlatform = {
  now: monotonicNow,
  entropy: systemEntropy,
  later(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  repaint: (draw) => void setTimeout(draw, 1000 / DRAW_RATE),
  isHidden: () => false,
  onWake: () => () => {},
  onGone: () => () => {},
  ageMs: () => process.uptime() * 1000,
  reportFault: (fault) => {
    if (isWorthLogging(fault)) console.error(`tickwire: ${fault.callback} threw:`, fault.error)
  },
  noteRoom: () => {},
  seats: undefined,
}

/** The parts of a client on Node: packets are sealed with `provider`. */
export function nodeParts(provider: CryptoProvider): ClientParts {
  return {
    createEndpoint: (config) => createEndpoint({ ...config, security: { provider } }),
    createAuthority: sharedAuthority,
  }
}
