/** Names of content checks. */
export const CHECK_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/
export const CHECK_NAME_RULE = "must be 1 to 64 lower case letters, digits, - and _"
