/**
 * Which players play together: the game's own pure function of the tickets, and a default.
 *
 * The default groups players of similar skill. The window around the skill of a player grows while the player waits,
 * and after a while a group need not be full.
 */

/** A player, or a party, that waits for a match. */
export interface Ticket {
  readonly id: string
  /** The type of room. */
  readonly type: string
  readonly skill: number
  /** How many players come together. */
  readonly party: number
  readonly attributes: { readonly [name: string]: string }
  /** How long it has waited, in ms. */
  readonly waitedMs: number
}

/** Tickets that get seats in one new room. */
export interface Group {
  /** Ids of tickets. */
  readonly tickets: readonly string[]
  /** The metadata of the room. Default: that of its type. */
  readonly metadata?: { readonly [key: string]: string }
}

/**
 * Makes groups of the waiting tickets of one type. `capacity`: the players of a room. Must not change its arguments.
 */
export type Propose = (tickets: readonly Ticket[], capacity: number) => readonly Group[]

/** How `skillWindow` works. */
export interface SkillWindowOptions {
  /** How far skills may differ at first. Default 50. */
  readonly window?: number
  /** How much farther for each second that a player has waited. Default 25. */
  readonly growthPerSecond?: number
  /** After this time a group need not be full, in ms. Default 20,000. */
  readonly patienceMs?: number
  /** The least players of a match. Default 2. */
  readonly playersMin?: number
}

/** A `propose` that groups players of similar skill. */
export function skillWindow(options: SkillWindowOptions = {}): Propose {
  const { window = 50, growthPerSecond = 25, patienceMs = 20_000, playersMin = 2 } = options
  const reach = ({ waitedMs }: Ticket): number => window + growthPerSecond * waitedMs / 1000
  return (tickets, capacity) => {
    const groups: Group[] = []
    const left = new Set(tickets.toSorted((one, other) => other.waitedMs - one.waitedMs))
    for (const first of left) {
      left.delete(first)
      const near = [...left]
        .filter((each) => Math.abs(each.skill - first.skill) <= Math.min(reach(each), reach(first)))
        .toSorted((one, other) => Math.abs(one.skill - first.skill) - Math.abs(other.skill - first.skill))
      const group = [first]
      let players = first.party
      for (const each of near) {
        if (players + each.party > capacity) continue
        group.push(each)
        players += each.party
      }
      const isPatient = first.waitedMs < patienceMs
      if (players < Math.min(capacity, isPatient ? capacity : playersMin)) continue
      for (const each of group) left.delete(each)
      groups.push({ tickets: group.map(({ id }) => id) })
    }
    return groups
  }
}
