/** The names by which Slack knows common emoji; there is no call that finds one by its picture. */
const NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  `👍 thumbsup|👎 thumbsdown|👌 ok_hand|👏 clap|🙏 pray|🙌 raised_hands|💪 muscle|🤝 handshake|👋 wave|✌ v|🤞 crossed_fingers
✍ writing_hand|🖕 middle_finger|☝ point_up|👇 point_down|👆 point_up_2|👉 point_right|👈 point_left|✊ fist|👊 facepunch|🫡 saluting_face
❤ heart|🧡 orange_heart|💛 yellow_heart|💚 green_heart|💙 blue_heart|💜 purple_heart|🖤 black_heart|🤍 white_heart|💔 broken_heart
💘 cupid|💖 sparkling_heart|💕 two_hearts|❤‍🔥 heart_on_fire|🔥 fire|⭐ star|🌟 star2|✨ sparkles|⚡ zap|💯 100|💥 boom|💡 bulb|💩 hankey
🎉 tada|🎊 confetti_ball|🎈 balloon|🎁 gift|🎂 birthday|🏆 trophy|🥇 first_place_medal|🎃 jack_o_lantern|🎄 christmas_tree|🎅 santa
😀 grinning|😃 smiley|😄 smile|😁 grin|😆 laughing|😅 sweat_smile|😂 joy|🤣 rolling_on_the_floor_laughing|🙂 slightly_smiling_face
🙃 upside_down_face|😉 wink|😊 blush|😇 innocent|🥰 smiling_face_with_3_hearts|😍 heart_eyes|🤩 star-struck|😘 kissing_heart|😋 yum
😜 stuck_out_tongue_winking_eye|🤪 zany_face|😎 sunglasses|🤓 nerd_face|🧐 face_with_monocle|🤗 hugging_face|🤔 thinking_face|🤨 face_with_raised_eyebrow
😐 neutral_face|😑 expressionless|😏 smirk|😒 unamused|🙄 face_with_rolling_eyes|😬 grimacing|😴 sleeping|🥱 yawning_face|🥴 woozy_face
🤯 exploding_head|🤠 face_with_cowboy_hat|🥳 partying_face|😕 confused|😟 worried|😮 open_mouth|😯 hushed|😲 astonished|😳 flushed|🥺 pleading_face
😢 cry|😭 sob|😱 scream|😨 fearful|😰 cold_sweat|😡 rage|😠 angry|🤬 face_with_symbols_on_mouth|😈 smiling_imp|🤡 clown_face|🤮 face_vomiting
👻 ghost|👽 alien|👾 space_invader|🤖 robot_face|🗿 moyai|👀 eyes|💋 kiss|🤷 shrug|🤷‍♂ man-shrugging|🤷‍♀ woman-shrugging|🤦 face_palm
👨‍💻 male-technologist|👩‍💻 female-technologist|💅 nail_care|🙈 see_no_evil|🙉 hear_no_evil|🙊 speak_no_evil|🐳 whale|🦄 unicorn_face|🕊 dove_of_peace
🌚 new_moon_with_face|☀ sunny|🌈 rainbow|☃ snowman|🌭 hotdog|🍌 banana|🍓 strawberry|🍕 pizza|🍺 beer|🍻 beers|🍾 champagne|☕ coffee|💊 pill
✅ white_check_mark|☑ ballot_box_with_check|✔ heavy_check_mark|❌ x|❎ negative_squared_cross_mark|➕ heavy_plus_sign|➖ heavy_minus_sign
❗ exclamation|❓ question|⚠ warning|🚨 rotating_light|🚀 rocket|📌 pushpin|📝 memo|📅 date|⏰ alarm_clock|⏳ hourglass_flowing_sand|🔔 bell|🔒 lock
🔍 mag|📈 chart_with_upwards_trend|📉 chart_with_downwards_trend|🛠 hammer_and_wrench|🐛 bug|♻ recycle|🆒 cool|🆗 ok|🆕 new|🔴 red_circle|🟢 large_green_circle|🔵 large_blue_circle`
    .split(/[|\n]/)
    .map((pair) => pair.split(' ')),
)

/** Returns the name of an emoji on Slack; undefined for one that is not known here. */
export function nameOfEmoji(emoji: string): string | undefined {
  const plain = emoji.replaceAll('\uFE0F', '')
  return Object.hasOwn(NAMES, plain) ? NAMES[plain] : undefined
}
