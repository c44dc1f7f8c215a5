/** The "./devtools" door: watching the network from inside a page. Nothing is behind it yet. */

export {}
