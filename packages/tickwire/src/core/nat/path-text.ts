/** Why a connection uses its path, in one sentence for people. */

import type { PathReason } from './path-race.ts'
import type { PathKind } from './peer-port.ts'

const REASONS: { readonly [reason in PathReason]: string } = {
  'not-started': 'nothing is known about the other player yet',
  'race-runs': 'a direct path is being looked for',
  'probe-answered': 'both routers let a direct path through',
  'no-answer': 'no direct path was found: the routers do not let one through',
  'direct-path-silent': 'the direct path fell silent, and another is being looked for',
  'network-changed': 'the network of this machine changed, and a direct path is being looked for',
  'relay-only': 'addresses are hidden by relay-only',
}

/** The sentence for a path and its reason. */
export function describePath({ kind, reason, relay }: {
  readonly kind: PathKind; readonly reason: PathReason; readonly relay: string
}): string {
  if (kind === 'none') return `no path: ${REASONS[reason]}`
  return kind === 'relay' ? `by the relay ${relay}: ${REASONS[reason]}` : REASONS[reason]
}
