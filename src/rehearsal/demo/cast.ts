import type { DiscordServer } from '../discord/server.ts'
import type { SlackServer } from '../slack/server.ts'
import type { TelegramServer } from '../telegram/server.ts'

export type Platform = 'telegram' | 'discord' | 'slack'

/** A place of the demo where people talk. */
export interface Place {
  readonly platform: Platform
  readonly title: string
  /** The platform's id of the chat. Absent for the private chat of whoever speaks. */
  readonly chat?: string
  /** The forum topic or thread. */
  readonly topic?: string
  /** A Slack thread, begun at the root of its channel by the first thing said here. */
  readonly begins?: true
}

export interface Character {
  readonly name: string
  /** The person's id on each platform. */
  readonly ids: Readonly<Record<Platform, string>>
}

export type CharacterName = 'ada' | 'bo' | 'cy' | 'mallory'
export type PlaceName =
  | 'family'
  | 'general'
  | 'garden'
  | 'budget'
  | 'dm'
  | 'workshop'
  | 'boiler'
  | 'office'
  | 'lamp'
  | 'printer'

/** The people and places of the demo, as they exist on the rehearsal servers. */
export interface Cast {
  readonly people: Readonly<Record<CharacterName, Character>>
  readonly places: Readonly<Record<PlaceName, Place>>
}

export interface Servers {
  readonly telegram: TelegramServer
  readonly discord: DiscordServer
  readonly slack: SlackServer
}

type People = Cast['people']
type Places<Name extends PlaceName> = Readonly<Record<Name, Place>>

/** Makes the demo's world: a family group, a club forum, a guild with a thread, and a workspace. */
export function castWorld(servers: Servers): Cast {
  const people: People = {
    ada: character('ada', 'Ada', servers),
    bo: character('bo', 'Bo', servers),
    cy: character('cy', 'Cy', servers),
    mallory: character('mallory', 'Mallory', servers),
  }
  const places = {
    ...telegramPlaces(servers.telegram, people),
    ...discordPlaces(servers.discord),
    ...slackPlaces(servers.slack, people),
  }
  return { people, places }
}

function character(username: CharacterName, name: string, { telegram, discord, slack }: Servers): Character {
  const ids = {
    telegram: String(telegram.world.addUser({ firstName: name, username }).id),
    discord: discord.world.addUser({ username, displayName: name }).id,
    slack: slack.world.addUser({ name: username, displayName: name }).id,
  }
  return { name, ids }
}

type TelegramPlace = 'family' | 'general' | 'garden' | 'budget' | 'dm'

function telegramPlaces({ world }: TelegramServer, { ada, bo, cy }: People): Places<TelegramPlace> {
  const members = [ada, bo, cy].map(({ ids }) => Number(ids.telegram))
  const family = world.addChat({ type: 'supergroup', title: 'Family', members })
  const club = world.addChat({ type: 'supergroup', title: 'Allotment club', forum: true, members })
  const place = (title: string, chat: { readonly id: number }): Place & { readonly chat: string } => {
    return { platform: 'telegram', title: `Telegram: ${title}`, chat: String(chat.id) }
  }
  const topic = (name: string): Place => {
    return { ...place(`Allotment club › ${name}`, club), topic: String(world.addTopic({ chat: club, name })) }
  }
  return {
    family: place('Family', family),
    general: place('Allotment club › General', club),
    garden: topic('Garden'),
    budget: topic('Budget'),
    dm: { platform: 'telegram', title: 'Telegram: direct chat' },
  }
}

function discordPlaces({ world }: DiscordServer): Places<'workshop' | 'boiler'> {
  const guild = world.addGuild({ name: 'Makers' })
  const channel = world.addChannel({ guild, name: 'workshop' })
  const thread = world.addThread({ channel, name: 'boiler' })
  const workshop: Place = { platform: 'discord', title: 'Discord: Makers › #workshop', chat: channel.id }
  return { workshop, boiler: { ...workshop, title: `${workshop.title} › thread boiler`, topic: thread.id } }
}

function slackPlaces({ world }: SlackServer, { ada, bo, cy }: People): Places<'office' | 'lamp' | 'printer'> {
  const { id } = world.addChannel({ name: 'office', members: [ada, bo, cy].map(({ ids }) => ids.slack) })
  const office: Place = { platform: 'slack', title: 'Slack: #office', chat: id }
  const thread = (name: string): Place => ({ ...office, title: `${office.title} › thread ${name}`, begins: true })
  return { office, lamp: thread('lamp'), printer: thread('printer') }
}
