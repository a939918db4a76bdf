import { balance } from './balance.ts'
import type { Stage } from './stage.ts'
import { scheduledDigest } from './tour-digest.ts'
import { channelAndThread } from './tour-discord.ts'
import { pictureVoiceAndMemory } from './tour-memory.ts'
import { twoThreads } from './tour-slack.ts'
import { crashInReply, directChats, familyGroup, forumTopics } from './tour-telegram.ts'
import { reminderAndTools } from './tour-tools.ts'

interface Scene {
  readonly title: string
  /** The line printed when every check of the scene passed; a failed check is printed by itself. */
  readonly proves: string
  play(stage: Stage): Promise<void>
}

const SCENES: readonly Scene[] = [
  {
    title: 'A group on Telegram: speak only when it should',
    proves: 'a remark is remembered, a mention is answered, and silence stays silent',
    play: familyGroup,
  },
  {
    title: 'Topics of a forum: every conversation apart',
    proves: 'the garden knows of its tomatoes and nothing of the budget',
    play: forumTopics,
  },
  {
    title: 'Direct chats: the owner, and a stranger',
    proves: 'the owner gets the time; a stranger is told once, and the owner asked',
    play: directChats,
  },
  {
    title: 'A reminder, a tool of a server, and a yes by a button',
    proves: 'what acts elsewhere is done after a yes, once, and a reminder comes by itself',
    play: reminderAndTools,
  },
  {
    title: 'A picture, a voice note, and what is remembered',
    proves: 'it sees, it hears, and what was said in private stays out of the group',
    play: pictureVoiceAndMemory,
  },
  {
    title: 'Discord: a channel, and a thread in it',
    proves: 'each knows what was said there and nothing of the other',
    play: channelAndThread,
  },
  {
    title: 'Slack: two threads of one channel',
    proves: 'a mention begins a thread, and each thread is a conversation of its own',
    play: twoThreads,
  },
  {
    title: 'A scheduled digest: from Discord to a topic on Telegram',
    proves: 'what was said in the workshop is told in the garden, once, and nowhere else',
    play: scheduledDigest,
  },
  {
    title: 'kill -9 in the middle of a reply: nothing lost, answered once',
    proves: 'one message, written once: it went on where it had stopped',
    play: crashInReply,
  },
]

/** Plays each scene: a person writes, the daemon acts, and the platforms' ledgers are checked. */
export async function playTour(stage: Stage): Promise<void> {
  for (const [index, { title, proves, play }] of SCENES.entries()) {
    stage.printer.title(`${index + 1}  ${title}`)
    const before = stage.failures
    await play(stage)
    if (stage.failures === before) stage.printer.check(true, proves)
  }
  balance(stage)
}
