/* include - SwiftPM wants a folder of public headers; this program has none. */
