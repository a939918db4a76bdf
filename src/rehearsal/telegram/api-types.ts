/** The part of the Bot API's objects that the rehearsal builds. Ids are numbers of up to 52 significant bits. */
export interface ApiUser {
  id: number
  is_bot: boolean
  first_name: string
  last_name?: string
  username?: string
  language_code?: string
}

export type ApiChatType = 'private' | 'group' | 'supergroup' | 'channel'

export interface ApiChat {
  id: number
  type: ApiChatType
  title?: string
  username?: string
  first_name?: string
  last_name?: string
  is_forum?: true
}

/** Offsets and lengths count UTF-16 units. */
export interface ApiEntity {
  type: string
  offset: number
  length: number
  url?: string
  user?: ApiUser
  language?: string
  custom_emoji_id?: string
}

/** The first writer of a forwarded message, and the time of writing. */
export type ApiOrigin = { date: number } & (
  | { type: 'user'; sender_user: ApiUser }
  | { type: 'hidden_user'; sender_user_name: string }
  | { type: 'chat'; sender_chat: ApiChat }
  | { type: 'channel'; chat: ApiChat; message_id: number }
)

export interface ApiFile {
  file_id: string
  file_unique_id: string
  file_name: string
  mime_type: string
  file_size: number
}

export interface ApiMessage {
  message_id: number
  /** Seconds since the epoch. */
  date: number
  chat: ApiChat
  from?: ApiUser
  sender_chat?: ApiChat
  message_thread_id?: number
  is_topic_message?: true
  is_automatic_forward?: true
  forward_origin?: ApiOrigin
  forward_from?: ApiUser
  forward_from_chat?: ApiChat
  forward_from_message_id?: number
  forward_sender_name?: string
  forward_date?: number
  via_bot?: ApiUser
  has_protected_content?: true
  reply_to_message?: ApiMessage
  text?: string
  entities?: ApiEntity[]
  document?: ApiFile
  photo?: (Omit<ApiFile, 'file_name' | 'mime_type'> & { width: number; height: number })[]
  voice?: Omit<ApiFile, 'file_name'> & { duration: number }
  caption?: string
  caption_entities?: ApiEntity[]
  edit_date?: number
  reply_markup?: object
  forum_topic_created?: { name: string; icon_color: number }
  forum_topic_edited?: { name?: string; icon_custom_emoji_id?: string }
  forum_topic_closed?: object
  forum_topic_reopened?: object
  new_chat_members?: ApiUser[]
  left_chat_member?: ApiUser
  migrate_to_chat_id?: number
  migrate_from_chat_id?: number
}

export type MemberStatus = 'creator' | 'administrator' | 'member' | 'restricted' | 'left' | 'kicked'

/** The update kinds the driver builds; `raw` can offer anything else. */
export type UpdateKind =
  | 'message'
  | 'edited_message'
  | 'channel_post'
  | 'edited_channel_post'
  | 'callback_query'
  | 'my_chat_member'
  | 'chat_member'
  | 'message_reaction'

/** The kinds a bot gets only after it asked for them in `allowed_updates`. */
export const optInUpdates: readonly string[] = ['chat_member', 'message_reaction', 'message_reaction_count']
