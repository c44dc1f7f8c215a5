/**
 * Entropy tables that change during a match: which versions exist, which client has which, and which each is encoded
 * with.
 *
 *   retrain ──▶ tables are sent to each client ──▶ all pieces acknowledged ──▶ the next snapshot uses the new tables
 *
 * Snapshots never use tables that the client has not acknowledged. A client that is slow, or never receives them, stays
 * on its current version. A new client begins with the handshake's tables and is sent the newest. Each version in use
 * has one Replicator, over the same change marks. It is released with its last client.
 *
 * Rows that owners of shared objects send to the server always use the handshake's tables.
 */

import { ConfigError } from '../base/assert.ts'
import { TABLES_BYTES_MAX } from '../base/limits.ts'
import type { PeerId } from '../base/time.ts'
import { utf8Size } from '../bits/utf8.ts'
import { encodeText } from '../codec/packed-text.ts'
import type { RowCoder } from '../codec/row-coder.ts'
import type { Priors } from '../codec/snapshot-codec.ts'
import type { FrameSource } from '../packet/frame-source.ts'
import type { Replicator } from '../replication/replicator.ts'
import type { SnapshotSource } from '../replication/snapshot-source.ts'
import { TablesSource, type TablesText } from './tables-source.ts'
import type { Shape } from '../schema/field.ts'
import type { Game } from './define-game.ts'

interface Tables extends TablesText {
  readonly coders: readonly RowCoder[]
  /** Keyed by the Replicator with the handshake's tables: that of the match, or of the delayed spectator feed. */
  readonly replicators: Map<Replicator, Replicator>
}

interface RetrainedLine {
  readonly source: TablesSource<Tables>
  held: Tables | undefined
}

/** Entropy tables of a running match, and which client has which version. */
export class Retraining {
  /** The newest version. 0 = the handshake's tables. */
  version = 0
  readonly #game: Pick<Game<Shape>, 'codersBy'>
  readonly #lines = new Map<PeerId, RetrainedLine>()
  /** All versions that a client holds or is being sent. The newest is last. */
  #tables: readonly Tables[] = []

  constructor(game: Pick<Game<Shape>, 'codersBy'>) {
    this.#game = game
  }

  /** Sends new tables to all clients. Returns their version. */
  retrain(priors: Priors): number {
    const coders = this.#game.codersBy(priors)
    const text = JSON.stringify(priors)
    const size = utf8Size(text)
    if (size > TABLES_BYTES_MAX)
      throw new ConfigError(
        'retrain',
        `priors too large (expected at most ${TABLES_BYTES_MAX} bytes, got ${size})`,
        'train fewer entities.',
      )
    const tables = {
      version: ++this.version,
      bytes: encodeText(text),
      coders,
      replicators: new Map<Replicator, Replicator>(),
    }
    this.#tables = [...this.#tables, tables]
    for (const { source } of this.#lines.values()) source.offer(tables)
    this.#sweep()
    return this.version
  }

  /** The version that a client has acknowledged and that its snapshots use. */
  versionOf(peer: PeerId): number {
    return this.#lines.get(peer)?.held?.version ?? 0
  }

  /** The coders that most clients use; on a tie, the newer. Undefined while those are the handshake's. */
  get codersInForce(): readonly RowCoder[] | undefined {
    const counts = new Map<Tables | undefined, number>()
    for (const { held } of this.#lines.values()) counts.set(held, (counts.get(held) ?? 0) + 1)
    const [most] = [...counts].sort(([a, count], [b, other]) => other - count || (b?.version ?? 0) - (a?.version ?? 0))
    return most?.[0]?.coders
  }

  /** The number of versions kept: those that a client holds or is being sent, and the newest. */
  get keptCount(): number {
    return this.#tables.length
  }

  /**
   * Adds a client, which begins with the handshake's tables on `replicator`. Returns the source of its tables.
   * `onSwitch`: the client has new tables, and its snapshots are encoded with them from now on.
   */
  attach(peer: PeerId, replicator: Replicator, snapshots: SnapshotSource, onSwitch: () => void): FrameSource {
    const line: RetrainedLine = {
      held: undefined,
      source: new TablesSource((tables) => {
        const found = tables.replicators.get(replicator) ?? replicator.retrained(tables.coders)
        tables.replicators.set(replicator, found)
        snapshots.retrain(found, tables.version)
        onSwitch()
        line.held = tables
        this.#sweep()
      }),
    }
    this.#lines.set(peer, line)
    const newest = this.#tables.at(-1)
    if (newest !== undefined) line.source.offer(newest)
    return line.source
  }

  /** A client is gone: its version is no longer kept for it. */
  detach(peer: PeerId): void {
    this.#lines.delete(peer)
    this.#sweep()
  }

  /** Releases versions that no client holds or waits for, except the newest. */
  #sweep(): void {
    const newest = this.#tables.at(-1)
    const lines = [...this.#lines.values()]
    this.#tables = this.#tables.filter((tables) => {
      const isUsed = tables === newest || lines.some(({ held, source }) => held === tables || source.sends(tables))
      if (!isUsed) for (const replicator of tables.replicators.values()) replicator.retire()
      return isUsed
    })
  }
}
