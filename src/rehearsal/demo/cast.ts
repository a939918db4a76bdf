import type { TelegramServer } from '../telegram/server.ts'

/** A place of the demo where people talk. */
export interface Place {
  readonly title: string
  /** Absent: the private chat of whoever speaks. */
  readonly chat?: number
  readonly topic?: number
}

export interface Character {
  readonly id: number
  readonly name: string
  readonly about: string
}

export type CharacterName = 'ada' | 'bo' | 'cy' | 'mallory'
export type PlaceName = 'family' | 'general' | 'garden' | 'budget' | 'dm'

/** The people and places of the demo, as they exist on the rehearsal server. */
export interface Cast {
  readonly people: Readonly<Record<CharacterName, Character>>
  readonly places: Readonly<Record<PlaceName, Place>>
}

const PEOPLE = {
  ada: { name: 'Ada', about: 'the owner' },
  bo: { name: 'Bo', about: 'family' },
  cy: { name: 'Cy', about: 'a club member' },
  mallory: { name: 'Mallory', about: 'a stranger' },
} as const

/** Makes the demo's world: a family group and a club forum with two topics beside General. */
export function castWorld({ world }: TelegramServer): Cast {
  const user = (name: CharacterName): Character => {
    const { id } = world.addUser({ firstName: PEOPLE[name].name, username: name })
    return { id, ...PEOPLE[name] }
  }
  const people = { ada: user('ada'), bo: user('bo'), cy: user('cy'), mallory: user('mallory') }
  const members = [people.ada, people.bo, people.cy]
  const family = world.addChat({ type: 'supergroup', title: 'Family', members })
  const club = world.addChat({ type: 'supergroup', title: 'Allotment club', forum: true, members })
  const garden = world.addTopic({ chat: club, name: 'Garden' })
  const budget = world.addTopic({ chat: club, name: 'Budget' })
  return {
    people,
    places: {
      family: { title: 'Family', chat: family.id },
      general: { title: 'Allotment club › General', chat: club.id },
      garden: { title: 'Allotment club › Garden', chat: club.id, topic: garden },
      budget: { title: 'Allotment club › Budget', chat: club.id, topic: budget },
      dm: { title: 'direct chat' },
    },
  }
}
