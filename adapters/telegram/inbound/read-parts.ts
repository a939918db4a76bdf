import { cutText } from '../../../src/core/cut-text.ts'
import type { AttachmentRef, FileKind } from '../../../src/core/message.ts'
import { type Fields, isFields, present, sizeOf, textIn, textOf } from '../../shared/fields.ts'
import { wordOf } from '../../shared/reading.ts'
import { listLines } from '../../shared/shared-words.ts'
import { isoTime, nameIn, readable, readEntities } from './entities.ts'
import { readText, readWords } from './mentions.ts'
import { RICH_FILES } from './rich-message.ts'

/** An animation also comes as `document`, for old clients; the first of the two is taken. */
const SINGLE_FILES = {
  live_photo: 'video',
  animation: 'animation',
  document: 'document',
  video: 'video',
  audio: 'audio',
  voice: 'voice',
  voice_note: 'voice',
  video_note: 'video',
  sticker: 'sticker',
} as const satisfies Record<string, FileKind>

/** The platform takes 50 media in one rich message. */
const MOST_FILES = 10

/** The files of a message, by `file_id`: the only reference the platform gives that is not a path. */
export function readAttachments(message: Fields): readonly AttachmentRef[] {
  const own = fileIn(message)
  if (own !== undefined) return [own]
  const paid = itemsOf(fieldsIn(message.paid_media).paid_media).flatMap((item) => fileIn(item) ?? [])
  if (paid.length > 0) return paid.slice(0, MOST_FILES)
  return richFiles(fieldsIn(message.rich_message), 0).slice(0, MOST_FILES)
}

function fileIn(holder: Fields): AttachmentRef | undefined {
  const { photo, live_photo: live } = holder
  // The still picture of a live photo is seen; its film is not.
  const sizes = itemsOf(photo ?? (isFields(live) ? live.photo : undefined))
  const picture = largest(sizes.filter(({ file_id }) => typeof file_id === 'string'))
  if (picture !== undefined) return { ...readFile(picture, 'photo'), mime: 'image/jpeg' }
  for (const [name, kind] of Object.entries(SINGLE_FILES)) {
    const file = holder[name]
    if (isFields(file) && typeof file.file_id === 'string') return readFile(file, kind)
  }
  return undefined
}

function richFiles({ blocks, items, ...block }: Fields, depth: number): readonly AttachmentRef[] {
  if (depth > DEEPEST) return []
  const own = RICH_FILES.some((type) => type === block.type) ? fileIn(block) : undefined
  return [...(own ? [own] : []), ...[...itemsOf(blocks), ...itemsOf(items)].flatMap((one) => richFiles(one, depth + 1))]
}

const DEEPEST = 32

/** Photos come in several sizes of the same picture. */
function largest(sizes: readonly Fields[]): Fields | undefined {
  return sizes.reduce<Fields | undefined>((best, size) => {
    return best === undefined || pixels(size) > pixels(best) ? size : best
  }, undefined)
}

function pixels(size: Fields): number {
  return (sizeOf(size.width) ?? 0) * (sizeOf(size.height) ?? 0)
}

function readFile(file: Fields, kind: FileKind): AttachmentRef {
  return {
    ref: textOf(file.file_id),
    kind,
    ...present('mime', textIn(file.mime_type)),
    ...present('fileName', textIn(file.file_name)),
    ...present('size', sizeOf(file.file_size)),
    ...present('about', aboutOf(file)),
  }
}

/** Returns the rest that the platform says of a file: the emoji of a sticker, artist and title, the length. */
function aboutOf({ emoji, set_name, title, performer, duration }: Fields): string | undefined {
  const seconds = typeof duration === 'number' && duration >= 0 ? `${Math.round(duration)} s` : undefined
  const set = typeof set_name === 'string' ? `set ${set_name}` : undefined
  const words = [emoji, set, performer, title, seconds].filter((word) => typeof word === 'string' && word !== '')
  return words.length === 0 ? undefined : words.join(', ')
}

/** The kinds of content that are neither text nor file, each with the lines that say it. */
const KINDS: Readonly<Record<string, (value: Fields, message: Fields) => readonly string[]>> = {
  venue: ({ title, address, location }) => line('place', [title, address, pointOf(location)]),
  location: (location, { venue }) => (venue === undefined ? placeLine(location) : []),
  contact: contactLine,
  poll: pollLines,
  dice: ({ emoji, value }) => (typeof value === 'number' ? line('die', [emoji, String(value)]) : []),
  checklist: checklistLines,
  checklist_tasks_done: tasksDone,
  checklist_tasks_added: ({ tasks, checklist_message }) =>
    listed(['tasks added', titleOfList(checklist_message)], itemsOf(tasks).map(taskWords)),
  poll_option_added: ({ option_text }) => line('option added to the poll', [option_text]),
  poll_option_deleted: ({ option_text }) => line('option taken out of the poll', [option_text]),
  game: ({ title, description, text }) => line('game', [title, description, text]),
  story: (story) => line('story', [ofChat(story)]),
  paid_media: ({ star_count, paid_media }) =>
    line('paid media', [starsOf(star_count), itemsOf(paid_media).map(paidWords).join(' / ')]),
  invoice: (invoice) => line('invoice', [invoice.title, invoice.description, amountOf(invoice)]),
  successful_payment: (payment) => line('payment', [amountOf(payment)]),
  refunded_payment: (payment) => line('payment given back', [amountOf(payment)]),
  gift: giftLine,
  gift_upgrade_sent: (gift) => giftLine(gift).map((words) => `upgrade of a ${words}`),
  unique_gift: ({ gift }) => uniqueGiftLine(fieldsIn(gift)),
  giveaway: giveawayLine,
  giveaway_winners: ({ winners, winner_count, prize_description }) =>
    listed(['winners of a giveaway', countWords(winner_count), prize_description], itemsOf(winners).map(nameIn)),
  users_shared: ({ users }) => listed(['people shared'], itemsOf(users).map(sharedName)),
  chat_shared: (chat) => line('chat shared', [sharedName(chat)]),
  web_app_data: ({ button_text, data }) => line('data of a web app', [button_text, data]),
  passport_data: () => ['identity documents, which are not shown'],
  proximity_alert_triggered: ({ traveler, watcher, distance }) =>
    line('proximity alert', [nameIn(traveler), `within ${Number(distance)} m of ${nameIn(watcher)}`]),
  suggested_post_approved: (post) => postLine('suggested post approved', post),
  suggested_post_approval_failed: (post) => postLine('suggested post not approved: too few stars', post),
  suggested_post_declined: (post) => postLine('suggested post declined', post),
  suggested_post_paid: (post) => postLine('suggested post paid', post),
  suggested_post_refunded: (post) => postLine('suggested post paid back', post),
}

/**
 * Notices of the platform about its chat, which nobody says to anybody. They are words where somebody replies to one,
 * and nothing alone.
 */
const NOTICES: Readonly<Record<string, (value: unknown) => unknown>> = {
  pinned_message: (pinned) => wordsOf(fieldsIn(pinned)) || undefined,
  new_chat_title: (title) => title,
  new_chat_members: (members) => itemsOf(members).map(nameIn).join(', '),
  left_chat_member: nameIn,
  forum_topic_created: (topic) => fieldsIn(topic).name,
  forum_topic_edited: (topic) => fieldsIn(topic).name,
  video_chat_participants_invited: (invited) => itemsOf(fieldsIn(invited).users).map(nameIn).join(', '),
  chat_owner_left: (left) => nameIn(fieldsIn(left).new_owner),
  chat_owner_changed: (changed) => nameIn(fieldsIn(changed).new_owner),
  boost_added: (boost) => countWords(fieldsIn(boost).boost_count),
  ...Object.fromEntries(
    `new_chat_participant new_chat_member left_chat_participant new_chat_photo delete_chat_photo group_chat_created
    supergroup_chat_created channel_chat_created migrate_to_chat_id migrate_from_chat_id chat_background_set
    message_auto_delete_timer_changed forum_topic_closed forum_topic_reopened general_forum_topic_hidden
    general_forum_topic_unhidden video_chat_scheduled video_chat_started video_chat_ended voice_chat_scheduled
    voice_chat_started voice_chat_ended voice_chat_participants_invited giveaway_created giveaway_completed
    connected_website write_access_allowed paid_message_price_changed direct_message_price_changed
    managed_bot_created community_chat_added community_chat_removed community_chat_joined`
      .split(/\s+/)
      .map((name) => [name, () => '']),
  ),
}

/** Fields that say how a message came, its words and its files: none of them is a kind. */
const FRAME: ReadonlySet<string> = new Set(
  `message_id message_thread_id direct_messages_topic from sender_chat sender_boost_count sender_business_bot sender_tag
  date chat guest_query_id guest_bot_caller_user guest_bot_caller_chat business_connection_id forward_origin
  forward_from forward_from_chat forward_from_message_id forward_sender_name forward_signature forward_date
  is_topic_message is_automatic_forward reply_to_message reply_to_story reply_to_checklist_task_id
  reply_to_poll_option_id external_reply quote via_bot receiver_user ephemeral_message_id edit_date
  has_protected_content is_from_offline is_paid_post paid_star_count media_group_id author_signature
  suggested_post_info link_preview_options effect_id show_caption_above_media has_media_spoiler reply_markup
  text entities caption caption_entities rich_message photo live_photo animation document video audio voice video_note
  sticker`.split(/\s+/),
)

const MOST_LINES = 12

/**
 * Returns what came with a message and is neither text nor file, a line or more each: a place, a poll, a gift. It is
 * the sender's data, like the text; whoever shows it takes care that it passes for nothing else. Never throws.
 */
export function readEnclosed(message: Fields): readonly string[] | undefined {
  const lines = [...kindLines(message), ...replyLines(message), ...previewLine(message)].slice(0, MOST_LINES)
  return lines.length === 0 ? undefined : lines
}

function kindLines(message: Fields): readonly string[] {
  return Object.entries(KINDS).flatMap(([kind, read]) => {
    const value = message[kind]
    if (value === undefined) return []
    const lines = isFields(value) ? read(value, message) : []
    const isTold = lines.length > 0 || (kind === 'location' && message.venue !== undefined)
    return isTold ? lines : [kind.replaceAll('_', ' ')]
  })
}

/** Returns the name of the only content of a message that is a notice of the platform; undefined for any other. */
export function noticeIn(message: Fields): string | undefined {
  const named = Object.keys(message).filter((key) => !FRAME.has(key))
  return named.every((key) => Object.hasOwn(NOTICES, key)) ? named[0] : undefined
}

/** Returns the line that names content which this reader does not know, or which the server left out. */
export function unknownLine(message: Fields): string {
  const kind = Object.keys(message).find((key) => !FRAME.has(key))
  return `a message that cannot be shown here${kind === undefined ? '' : `: ${wordOf(kind).replaceAll('_', ' ')}`}`
}

/** Returns all that people read of a message beside its files, also of a notice; empty where there is nothing. */
export function wordsOf(message: Fields): string {
  return [readWords(message), ...kindLines(message), ...buttonLine(message), ...noticeLine(message)]
    .filter((words) => words !== '')
    .join('\n')
}

function noticeLine(message: Fields): readonly string[] {
  const kind = noticeIn(message)
  if (kind === undefined) return []
  // A pinned message is one of the chat, and holds none that is pinned.
  const words = NOTICES[kind]?.(message[kind])
  return line(kind.replaceAll('_', ' '), [words], true)
}

/** Returns the part of a message, or the story, that is replied to. */
function replyLines(message: Fields): readonly string[] {
  const { reply_to_story: story, reply_to_message: original } = message
  const { checklist, poll } = fieldsIn(original)
  const task = itemsOf(fieldsIn(checklist).tasks).find(({ id }) => id === message.reply_to_checklist_task_id)
  const option = itemsOf(fieldsIn(poll).options).find(
    ({ persistent_id: id }) => id !== undefined && id === message.reply_to_poll_option_id,
  )
  return [
    ...(isFields(story) ? line('reply to a story', [ofChat(story)], true) : []),
    ...(task === undefined ? [] : line('about the task', [taskWords(task)])),
    ...(option === undefined ? [] : line('about the option', [marked(option.text, option.text_entities)])),
  ]
}

/** The address that is shown below a message may stand in none of its words. */
function previewLine(message: Fields): readonly string[] {
  const { url, is_disabled } = fieldsIn(message.link_preview_options)
  const { text, entities } = readText(message)
  const isShown = typeof url !== 'string' || is_disabled === true || text.includes(url)
  return isShown || entities.some((entity) => entity.url === url) ? [] : line('preview of', [url])
}

/** Returns the buttons below a message with the addresses they open. */
export function buttonLine({ reply_markup: markup }: Fields): readonly string[] {
  const rows = fieldsIn(markup).inline_keyboard
  const buttons = (Array.isArray(rows) ? rows : []).flat().filter(isFields)
  return listed(
    ['buttons'],
    buttons.map((button) => word(button.text) + usedFor(button)),
  )
}

/** Returns the address that a button opens, or the text that it copies. */
function usedFor({ url, web_app: app, login_url: login, copy_text: copy }: Fields): string {
  const address = word(url) || word(fieldsIn(app).url) || word(fieldsIn(login).url)
  const copied = word(fieldsIn(copy).text)
  if (address !== '') return ` (${address})`
  return copied === '' ? '' : ` (copies: ${copied})`
}

function placeLine(location: Fields): readonly string[] {
  return line(location.live_period === undefined ? 'location' : 'live location', [pointOf(location)])
}

function pointOf(location: unknown): string | undefined {
  const { latitude, longitude } = fieldsIn(location)
  return typeof latitude === 'number' && typeof longitude === 'number' ? `${latitude}, ${longitude}` : undefined
}

function contactLine({ phone_number, vcard, ...names }: Fields): readonly string[] {
  return listed(['contact'], [nameIn(names), phone_number, ...cardWords(vcard, word(phone_number))], ', ')
}

/** Properties of a vCard that say more than the name and the number. */
const CARD = /^(?:item\d+\.)?(TEL|ORG|TITLE|ROLE|EMAIL|URL|ADR|NOTE|BDAY)\b([^:\n]{0,100}):(.+)$/gim
const LONGEST_CARD = 4_000
/** A property in the encoding of old cards, with the lines that it continues in. */
const QUOTED_PRINTABLE = /^[^\n:]*QUOTED-PRINTABLE(?:.|(?<==)\n)*$/gim

/** Returns the properties of a card, whose lines are folded: one that begins with a space continues the one before. */
function cardWords(vcard: unknown, number: string): readonly string[] {
  if (typeof vcard !== 'string') return []
  const unfolded = vcard
    .slice(0, LONGEST_CARD)
    .replaceAll('\r', '')
    .replace(/\n[ \t]/g, '')
    .replace(QUOTED_PRINTABLE, (property) => property.replaceAll('=\n', ''))
  return [...unfolded.matchAll(CARD)].flatMap(([, name = '', traits = '', value = '']) => {
    const words = cardValue(/QUOTED-PRINTABLE/i.test(traits) ? printableText(value) : value)
    if (name.toUpperCase() !== 'TEL') return shortened(words)
    const further = words.replace(/^tel:/i, '')
    return digitsIn(further) === digitsIn(number) ? [] : [shortened(further)]
  })
}

/** Returns the text whose bytes stand in hexadecimal behind `=`; empty where they are no UTF-8. */
function printableText(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('%', '%25').replace(/=([\da-f]{2})/gi, '%$1'))
  } catch {
    return ''
  }
}

function cardValue(value: string): string {
  const plain = value.replace(/\\n|[\r\n]+/gi, ' ').replace(/\\(.)/g, '$1')
  return plain.split(';').filter(Boolean).join(', ').trim()
}

function shortened(text: string): string {
  return text.length > LONGEST_VALUE ? `${cutText(text, LONGEST_VALUE)}…` : text
}

const LONGEST_VALUE = 300

function digitsIn(number: string): string {
  return number.replace(/\D/g, '')
}

function pollLines(poll: Fields): readonly string[] {
  const options = itemsOf(poll.options)
  const right = [poll.correct_option_ids, poll.correct_option_id].flat()
  const words = options.map(({ text, text_entities, voter_count: votes }, at) => {
    const notes = [...(Number(votes) > 0 ? [countWords(votes, 'vote')] : []), ...(right.includes(at) ? ['right'] : [])]
    return `${marked(text, text_entities)}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`
  })
  const state = [poll.type === 'quiz' ? 'quiz' : '', poll.is_closed === true ? 'closed' : ''].filter(Boolean)
  return [
    ...listed(['poll', marked(poll.question, poll.question_entities)], words),
    ...line('description of the poll', [marked(poll.description, poll.description_entities)]),
    ...line('explanation of the answer', [marked(poll.explanation, poll.explanation_entities)]),
    ...line('the poll is', [state.join(' and ')]),
  ]
}

function checklistLines({ title, title_entities, tasks }: Fields): readonly string[] {
  return listed(
    ['checklist', marked(title, title_entities)],
    itemsOf(tasks).map((task, at) => `${at + 1}. ${taskWords(task)}`),
  )
}

function taskWords({ text, text_entities, completed_by_user, completed_by_chat, completion_date }: Fields): string {
  const by = nameIn(completed_by_user) || nameIn(completed_by_chat)
  const isDone = by !== '' || Number(completion_date) > 0
  return `${marked(text, text_entities)}${isDone ? ` (done${by === '' ? '' : ` by ${by}`})` : ''}`
}

function tasksDone({ checklist_message, ...marks }: Fields): readonly string[] {
  const tasks = itemsOf(fieldsIn(fieldsIn(checklist_message).checklist).tasks)
  const named = (ids: unknown): string[] =>
    (Array.isArray(ids) ? ids : []).map((id) => {
      const { text, text_entities } = tasks.find((task) => task.id === id) ?? {}
      return marked(text, text_entities) || `task ${Number(id)}`
    })
  const title = titleOfList(checklist_message)
  return [
    ...listed(['tasks done', title], named(marks.marked_as_done_task_ids)),
    ...listed(['tasks not done any more', title], named(marks.marked_as_not_done_task_ids)),
  ]
}

function titleOfList(message: unknown): string {
  const { title, title_entities } = fieldsIn(fieldsIn(message).checklist)
  return marked(title, title_entities)
}

function paidWords({ type, ...media }: Fields): string {
  const { duration = media.duration } = fieldsIn(media.video)
  const seconds = typeof duration === 'number' && duration > 0 ? ` of ${Math.round(duration)} s` : ''
  return `${String(type).slice(0, 40).replaceAll('_', ' ')}${seconds}`
}

function giftLine({ gift, text, entities }: Fields): readonly string[] {
  const { sticker, star_count } = fieldsIn(gift)
  const words = marked(text, entities)
  return line('gift', [fieldsIn(sticker).emoji, starsOf(star_count), words && `with the words: ${words}`], true)
}

function uniqueGiftLine({ base_name, number, model, symbol, backdrop }: Fields): readonly string[] {
  const looks = [model, symbol, backdrop].map((part) => fieldsIn(part).name)
  return line('unique gift', [`${word(base_name)} #${Number(number)}`, ...looks])
}

function giveawayLine(giveaway: Fields): readonly string[] {
  const { chats, winner_count, winners_selection_date, prize_description } = giveaway
  const months = giveaway.premium_subscription_month_count
  return line('giveaway', [
    itemsOf(chats).map(nameIn).join(' / '),
    countWords(winner_count, 'winner'),
    isoTime(winners_selection_date),
    starsOf(giveaway.prize_star_count),
    typeof months === 'number' ? `${countWords(months, 'month')} of Premium` : undefined,
    prize_description,
  ])
}

function postLine(kind: string, post: Fields): readonly string[] {
  const { suggested_post_message, price, comment, reason, send_date } = post
  return line(
    kind,
    [
      amountOf(isFields(price) ? price : post),
      isoTime(send_date),
      comment,
      typeof reason === 'string' ? reason.replaceAll('_', ' ') : undefined,
      readWords(fieldsIn(suggested_post_message)),
    ],
    true,
  )
}

function sharedName(shared: Fields): string {
  const { username, user_id, chat_id } = shared
  const name = nameIn(shared)
  const account = typeof username === 'string' && name !== `@${username}` ? ` (@${username})` : ''
  return name === '' ? `id ${Number(user_id ?? chat_id)}` : `${name}${account}`
}

function ofChat({ chat }: Fields): string {
  const name = nameIn(chat)
  return name === '' ? '' : `of ${name}`
}

/** Returns an amount in the smallest unit of its currency, as people write it: `5.00 USD`, `15 stars`. */
function amountOf({ currency, total_amount, amount = total_amount }: Fields): string | undefined {
  if (typeof amount !== 'number' || typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) return undefined
  if (currency === 'XTR') return starsOf(amount)
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  const digits = currency === 'TON' ? 9 : (format.resolvedOptions().maximumFractionDigits ?? 2)
  return `${(amount / 10 ** digits).toFixed(currency === 'TON' ? 2 : digits)} ${currency}`
}

function starsOf(count: unknown): string | undefined {
  return typeof count === 'number' ? countWords(count, 'star') : undefined
}

function countWords(count: unknown, noun = ''): string {
  if (typeof count !== 'number') return ''
  return noun === '' ? String(count) : `${count} ${noun}${count === 1 ? '' : 's'}`
}

function marked(text: unknown, entities: unknown): string {
  return typeof text === 'string' ? readable(text, readEntities(entities)) : ''
}

/** Returns `kind: words`, or nothing where there are no words, unless the kind alone is worth a line. */
function line(kind: string, words: readonly unknown[], alone = false): readonly string[] {
  const said = words.map(word).filter((one) => one !== '')
  if (said.length === 0) return alone ? [kind] : []
  return [`${kind}: ${said.join(', ')}`]
}

/** Returns the items behind a head, in as many lines as they need. */
function listed(
  [kind = '', ...head]: readonly unknown[],
  items: readonly unknown[],
  between?: string,
): readonly string[] {
  const said = items.map(word).filter((item) => item !== '')
  const [first = `${kind}: `] = line(String(kind), head).map((words) => `${words}, `)
  return said.length === 0 ? line(String(kind), head) : listLines(String(kind), first, said, between)
}

const LONGEST_WORD = 1_000

function word(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, LONGEST_WORD).trim() : ''
}

function fieldsIn(value: unknown): Fields {
  return isFields(value) ? value : {}
}

function itemsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}
