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

/** The fields of a Message in the Bot API 10.3, and those that older servers send. */
export const messageFields: readonly string[] = `message_id message_thread_id direct_messages_topic from sender_chat
sender_boost_count sender_business_bot sender_tag date guest_query_id guest_bot_caller_user guest_bot_caller_chat
business_connection_id chat forward_origin forward_from forward_from_chat forward_from_message_id forward_sender_name
forward_signature forward_date is_topic_message is_automatic_forward reply_to_message reply_to_story
reply_to_checklist_task_id reply_to_poll_option_id external_reply quote via_bot receiver_user ephemeral_message_id
edit_date has_protected_content is_from_offline is_paid_post paid_star_count media_group_id author_signature text
entities link_preview_options suggested_post_info effect_id rich_message animation audio document live_photo paid_media
photo sticker story video video_note voice caption caption_entities show_caption_above_media has_media_spoiler
checklist contact dice game poll venue location new_chat_members new_chat_member new_chat_participant left_chat_member
left_chat_participant chat_owner_left chat_owner_changed new_chat_title new_chat_photo delete_chat_photo
group_chat_created supergroup_chat_created channel_chat_created message_auto_delete_timer_changed migrate_to_chat_id
migrate_from_chat_id pinned_message invoice successful_payment refunded_payment users_shared chat_shared gift
unique_gift gift_upgrade_sent connected_website write_access_allowed passport_data proximity_alert_triggered
boost_added chat_background_set checklist_tasks_done checklist_tasks_added poll_option_added poll_option_deleted
community_chat_added community_chat_removed community_chat_joined managed_bot_created direct_message_price_changed
forum_topic_created forum_topic_edited forum_topic_closed forum_topic_reopened general_forum_topic_hidden
general_forum_topic_unhidden giveaway_created giveaway giveaway_winners giveaway_completed paid_message_price_changed
suggested_post_approved suggested_post_approval_failed suggested_post_declined suggested_post_paid
suggested_post_refunded video_chat_scheduled video_chat_started video_chat_ended video_chat_participants_invited
voice_chat_scheduled voice_chat_started voice_chat_ended voice_chat_participants_invited web_app_data
reply_markup`.split(/\s+/)
