import { balance } from './balance.ts'
import type { Stage } from './stage.ts'
import { scheduledDigest } from './tour-digest.ts'
import { channelAndThread } from './tour-discord.ts'
import { twoThreads } from './tour-slack.ts'
import { crashInReply, directChats, familyGroup, forumTopics } from './tour-telegram.ts'

interface Scene {
  readonly title: string
  play(stage: Stage): Promise<void>
}

const SCENES: readonly Scene[] = [
  { title: 'A group: speak only when it should', play: familyGroup },
  { title: 'Topics of one forum: every conversation apart', play: forumTopics },
  { title: 'Direct chats: the owner, and a stranger', play: directChats },
  { title: 'Discord: a channel, and a thread in it', play: channelAndThread },
  { title: 'Slack: two threads of one channel', play: twoThreads },
  { title: 'A scheduled digest: from Discord into a topic on Telegram', play: scheduledDigest },
  { title: 'kill -9 in mid-reply: nothing lost, answered once', play: crashInReply },
]

/** The tour: each scene lets somebody say something, waits for what the daemon does, and checks it. */
export async function playTour(stage: Stage): Promise<void> {
  for (const [index, { title, play }] of SCENES.entries()) {
    stage.printer.title(`${index + 1}  ${title}`)
    await play(stage)
  }
  stage.printer.title('The ledgers')
  balance(stage)
}
