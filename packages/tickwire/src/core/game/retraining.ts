/**
 * Tables that change while a match runs: which versions there are, who has which, and by whose bits each is told.
 *
 *   retrain ──▶ each line is sent the tables ──▶ it has arrived whole, and was checked ──▶ from the next frame on he is told by it
 *
 * Nobody is told by tables that he has not acknowledged: whoever is slow, or never gets them, goes on with those he has. Who joins
 * begins with the handshake's and is sent the newest. One Replicator for each version that somebody holds, over the same marks; it
 * is let go with the last of them.
 *
 * What owners of shared objects tell the server stays by the tables of the handshake.
 */

import { ConfigError } from '../base/assert.ts'
import { TABLES_BYTES_MAX } from '../base/limits.ts'
import type { PeerId } from '../base/time.ts'
import { utf8Size } from '../bits/utf8.ts'
import { LANES } from '../channel/lane.ts'
import { encodeText } from '../codec/packed-text.ts'
import type { RowCoder } from '../codec/row-coder.ts'
import type { Priors } from '../codec/snapshot-codec.ts'
import type { Connection } from '../connection/connection.ts'
import type { Replicator } from '../replication/replicator.ts'
import type { SnapshotSource } from '../replication/snapshot-source.ts'
import { TablesSource, type TablesText } from '../replication/tables-source.ts'
import type { Shape } from '../schema/field.ts'
import type { Game } from './define-game.ts'
import { FRAME_KIND } from './frame-kinds.ts'

interface Tables extends TablesText {
  readonly coders: readonly RowCoder[]
  /** By the Replicator of the handshake's tables: that of the match, or of who looks on late. */
  readonly replicators: Map<Replicator, Replicator>
}

interface RetrainedLine {
  readonly source: TablesSource<Tables>
  held: Tables | undefined
}

export class Retraining {
  /** Of the newest tables; 0 = those of the handshake. */
  version = 0
  readonly #game: Pick<Game<Shape>, 'codersBy'>
  readonly #lines = new Map<PeerId, RetrainedLine>()
  /** All that somebody holds or is sent, and the newest last. */
  #tables: readonly Tables[] = []

  constructor(game: Pick<Game<Shape>, 'codersBy'>) {
    this.#game = game
  }

  /** From now on everybody is sent these. Returns their version. */
  retrain(priors: Priors): number {
    const coders = this.#game.codersBy(priors)
    const text = JSON.stringify(priors)
    const size = utf8Size(text)
    if (size > TABLES_BYTES_MAX) throw new ConfigError('retrain', `${size} bytes of priors`, `Train for fewer entities: at most ${TABLES_BYTES_MAX}.`)
    const tables = { version: ++this.version, bytes: encodeText(text), coders, replicators: new Map<Replicator, Replicator>() }
    this.#tables = [...this.#tables, tables]
    for (const { source } of this.#lines.values()) source.offer(tables)
    this.#sweep()
    return this.version
  }

  /** The version that somebody has acknowledged, and is told by. */
  versionOf(peer: PeerId): number {
    return this.#lines.get(peer)?.held?.version ?? 0
  }

  /** The coders by which most are told, of two with as many the newer; undefined while those are the handshake's. */
  get codersInForce(): readonly RowCoder[] | undefined {
    const counts = new Map<Tables | undefined, number>()
    for (const { held } of this.#lines.values()) counts.set(held, (counts.get(held) ?? 0) + 1)
    const [most] = [...counts].sort(([a, count], [b, other]) => other - count || (b?.version ?? 0) - (a?.version ?? 0))
    return most?.[0]?.coders
  }

  /** Versions that are kept: those that somebody holds or is sent, and the newest. */
  get keptCount(): number {
    return this.#tables.length
  }

  /** Somebody is told by the tables of the handshake, from now on by `replicator`. Right after his snapshots are added, with which it shares. */
  attach(connection: Connection, peer: PeerId, replicator: Replicator, snapshots: SnapshotSource): void {
    const line: RetrainedLine = {
      held: undefined,
      source: new TablesSource((tables) => {
        const found = tables.replicators.get(replicator) ?? replicator.retrained(tables.coders)
        tables.replicators.set(replicator, found)
        snapshots.retrain(found, tables.version)
        connection.changeKind(FRAME_KIND.snapshot, FRAME_KIND.retrained)
        line.held = tables
        this.#sweep()
      }),
    }
    this.#lines.set(peer, line)
    connection.addSource(FRAME_KIND.tables, line.source, LANES.bulk.weight)
    const newest = this.#tables.at(-1)
    if (newest !== undefined) line.source.offer(newest)
  }

  detach(peer: PeerId): void {
    this.#lines.delete(peer)
    this.#sweep()
  }

  /** Lets go of versions that nobody holds or waits for, but for the newest. */
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
