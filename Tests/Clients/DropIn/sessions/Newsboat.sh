#!/bin/bash
# The feed reader Newsboat: its cache of articles.
set -u
export HOME=$PWD LC_ALL=C
# feed FIRST LAST: a feed of articles with these numbers
feed() {
    echo '<?xml version="1.0"?><rss version="2.0"><channel><title>Feed</title><link>http://example.org/</link>'
    for number in $(seq "$1" "$2"); do
        echo "<item><title>Title $number</title><link>http://example.org/$number</link><guid>$number</guid>"
        echo "<description>Body $number</description><pubDate>Mon, 06 Sep 2021 00:00:00 +0000</pubDate></item>"
    done
    echo '</channel></rss>'
}
run() { newsboat -q -u urls -c cache.db -C settings "$@" 2>&1; }
echo "file://$PWD/feed.xml" >urls
echo 'max-items 40' >settings
feed 1 30 >feed.xml
run -x reload print-unread
feed 20 60 >feed.xml
run -x reload print-unread
run -X
run -x reload print-unread
run -E read
sort read
sqlite3 cache.db 'SELECT guid, title, unread, deleted FROM rss_item ORDER BY 1; PRAGMA integrity_check'
head -c 15 cache.db | grep -q 'SQLite format' || echo "$KIND"
